package dynamoadapter

import (
	"encoding/base64"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

var fieldsOfSession = []string{
	"id", "type", "sessionToken", "userId", "expires", "created", "userAgent", "tenant", "provider", "providerSid", "providerSub", "providerIssued",
	"sealed", "proved", "amr", "acr", versionField,
}

func (a *authJS) sessionItem(s latchkey.StoredSession) (item, error) {
	s.UserAgent = strings.ToValidUTF8(s.UserAgent, "\ufffd") // a browser may say anything
	if !isKey(ofSession+s.Token, ofUser+s.UserID) {
		return nil, errTooLong
	}
	if !areUTF8(append([]string{s.ID, s.Tenant, s.Provider, s.ProviderSID, s.ProviderSub, s.Sealed, s.ACR}, s.AMR...)...) {
		return nil, errNoUTF8
	}
	if s.ID == "" {
		s.ID = newUUID()
	}
	in := a.sessionAt(s.UserID, s.Token)
	in[a.layout.IndexPartitionKey], in[a.layout.IndexSortKey] = text(ofSession+s.Token), text(ofSession+s.Token)
	putTexts(in, map[string]string{
		"id": s.ID, "type": "SESSION", "sessionToken": s.Token, "userId": s.UserID, "created": isoOf(s.Created), "userAgent": s.UserAgent,
		"tenant": s.Tenant, "provider": s.Provider, "providerSid": s.ProviderSID, "providerSub": s.ProviderSub, "providerIssued": isoOf(s.ProviderIssued),
		"sealed": s.Sealed, "proved": isoOf(s.Proved), "acr": s.ACR, versionField: newUUID(),
	})
	in["expires"] = secondsOf(s.Expires)
	if len(s.AMR) > 0 {
		var err error
		if in["amr"], err = attributeOf(s.AMR); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// asSession reads a session; ErrNotFound: it is none.
func asSession(in item) (latchkey.StoredSession, error) {
	expires, says := expiryOf(in["expires"])
	token := textOf(in["sessionToken"])
	if token == "" || !says {
		return latchkey.StoredSession{}, latchkey.ErrNotFound
	}
	s := latchkey.StoredSession{
		ID: textOf(in["id"]), Token: token, UserID: textOf(in["userId"]), Expires: expires, Created: timeOf(in["created"]), UserAgent: textOf(in["userAgent"]),
		Tenant: textOf(in["tenant"]), Provider: textOf(in["provider"]), ProviderSID: textOf(in["providerSid"]), ProviderSub: textOf(in["providerSub"]),
		ProviderIssued: timeOf(in["providerIssued"]), Sealed: textOf(in["sealed"]), Proved: timeOf(in["proved"]), ACR: textOf(in["acr"]),
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
