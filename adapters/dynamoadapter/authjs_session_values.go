package dynamoadapter

import (
	"encoding/base64"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

var fieldsOfSession = []string{
	"id", "type", "sessionToken", "userId", "expires", "created", "userAgent", "tenant", "provider", "providerSid", "providerSub", "providerIssued",
	"sealed", "proved", "amr", "acr", "actor", "actorSession", versionField,
}

// item returns the item of a session, with the keys of the index. A session
// without an ID gets one. It returns errTooLong or errNoUTF8 for a session that
// cannot be stored.
func (s *sessionItems) item(row storage.StoredSession) (item, error) {
	row.UserAgent = strings.ToValidUTF8(row.UserAgent, "\ufffd") // a browser may say anything
	if !isKey(ofSession+row.Token, ofUser+row.UserID) {
		return nil, errTooLong
	}
	if !areUTF8(append([]string{row.ID, row.Tenant, row.Provider, row.ProviderSID, row.ProviderSub, row.Sealed, row.ACR, row.Actor, row.ActorSession}, row.AMR...)...) {
		return nil, errNoUTF8
	}
	if row.ID == "" {
		row.ID = newUUID()
	}
	in := s.sessionAt(row.UserID, row.Token)
	in[s.layout.IndexPartitionKey], in[s.layout.IndexSortKey] = text(ofSession+row.Token), text(ofSession+row.Token)
	putTexts(in, map[string]string{
		"id": row.ID, "type": "SESSION", "sessionToken": row.Token, "userId": row.UserID, "created": isoOf(row.Created), "userAgent": row.UserAgent,
		"tenant": row.Tenant, "provider": row.Provider, "providerSid": row.ProviderSID, "providerSub": row.ProviderSub, "providerIssued": isoOf(row.ProviderIssued),
		"sealed": row.Sealed, "proved": isoOf(row.Proved), "acr": row.ACR, "actor": row.Actor, "actorSession": row.ActorSession, versionField: newUUID(),
	})
	in["expires"] = secondsOf(row.Expires)
	if len(row.AMR) > 0 {
		var err error
		if in["amr"], err = attributeOf(row.AMR); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// asSession returns the session of an item, or ErrNotFound if the item is no session. A
// session that Auth.js has made gets an ID that is made of its token.
func asSession(in item) (storage.StoredSession, error) {
	expires, says := expiryOf(in["expires"])
	token := textOf(in["sessionToken"])
	if token == "" || !says {
		return storage.StoredSession{}, storage.ErrNotFound
	}
	s := storage.StoredSession{
		ID: textOf(in["id"]), Token: token, UserID: textOf(in["userId"]), Expires: expires, Created: timeOf(in["created"]), UserAgent: textOf(in["userAgent"]),
		Tenant: textOf(in["tenant"]), Provider: textOf(in["provider"]), ProviderSID: textOf(in["providerSid"]), ProviderSub: textOf(in["providerSub"]),
		ProviderIssued: timeOf(in["providerIssued"]), Sealed: textOf(in["sealed"]), Proved: timeOf(in["proved"]), ACR: textOf(in["acr"]),
		Actor: textOf(in["actor"]), ActorSession: textOf(in["actorSession"]),
	}
	if s.ID == "" { // made by Auth.js
		sum := hashOf(token)
		s.ID = base64.RawURLEncoding.EncodeToString(sum[:16])
	}
	methods, _ := valueOf(in["amr"]).([]any)
	for _, one := range methods {
		if method, is := one.(string); is {
			s.AMR = append(s.AMR, method)
		}
	}
	return s, nil
}
