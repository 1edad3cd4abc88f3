package mongoadapter

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// sessionDoc is a session; Auth.js has the first four fields.
type sessionDoc struct {
	ID       bson.ObjectID `bson:"_id"`
	Token    string        `bson:"sessionToken"`
	UserID   bson.ObjectID `bson:"userId"`
	Expires  time.Time     `bson:"expires"`
	Named    string        `bson:"sessionId,omitempty"` // the id it was given; empty: that of the document
	User     string        `bson:"user,omitempty"`      // the user's id as it was given, where that is no ObjectId
	Created  time.Time     `bson:"created,omitempty"`
	Agent    string        `bson:"userAgent,omitempty"`
	Tenant   string        `bson:"tenant,omitempty"`
	Provider string        `bson:"provider,omitempty"`
	SID      string        `bson:"providerSid,omitempty"`
	Sub      string        `bson:"providerSub,omitempty"`
	Issued   time.Time     `bson:"providerIssued,omitempty"`
	Sealed   string        `bson:"sealed,omitempty"`
	Proved   time.Time     `bson:"proved,omitempty"`
	AMR      []string      `bson:"amr,omitempty"`
	ACR      string        `bson:"acr,omitempty"`
	Actor    string        `bson:"actor,omitempty"`
	ActsIn   string        `bson:"actorSession,omitempty"`
}

// newSessionDoc returns the document of a session, with a new id. token is the stored
// form of the session's token. newSessionDoc returns errText for a text that is not
// UTF-8, unless that is the user agent, which it corrects.
func newSessionDoc(s storage.StoredSession, token string) (d sessionDoc, err error) {
	if !storable(append(slices.Clone(s.AMR), s.ID, s.Token, s.UserID, s.Tenant, s.Provider, s.ProviderSID, s.ProviderSub, s.Sealed, s.ACR, s.Actor, s.ActorSession)...) {
		return d, errText
	}
	d = sessionDoc{
		ID: bson.NewObjectID(), Token: token, UserID: objectID(s.UserID), Expires: s.Expires, Named: s.ID,
		Created: s.Created, Tenant: s.Tenant, Provider: s.Provider, SID: s.ProviderSID, Sub: s.ProviderSub,
		Issued: s.ProviderIssued, Sealed: s.Sealed, Proved: s.Proved, AMR: s.AMR, ACR: s.ACR, Actor: s.Actor, ActsIn: s.ActorSession,
		Agent: strings.ToValidUTF8(s.UserAgent, "\uFFFD"), // what a browser says of itself need not be text
	}
	if s.UserID != d.UserID.Hex() {
		d.User = s.UserID
	}
	return d, nil
}

// session returns the session of the document with the given token, which may be "",
// since the document may have only a hash.
func (d *sessionDoc) session(token string) storage.StoredSession {
	return storage.StoredSession{
		ID: cmp.Or(d.Named, d.ID.Hex()), Token: token, UserID: cmp.Or(d.User, d.UserID.Hex()), Expires: utc(d.Expires), Created: utc(d.Created),
		UserAgent: d.Agent, Tenant: d.Tenant, Provider: d.Provider, ProviderSID: d.SID, ProviderSub: d.Sub, ProviderIssued: utc(d.Issued),
		Sealed: d.Sealed, Proved: utc(d.Proved), AMR: d.AMR, ACR: d.ACR,
		Actor: d.Actor, ActorSession: d.ActsIn,
	}
}

// utc returns t in UTC. The zero time stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// CreateSession implements [storage.SessionAdapter] and [storage.SessionStore]. It does not
// look for the user, who may be kept elsewhere. It returns an error for an empty token.
func (a *Adapter) CreateSession(ctx context.Context, s storage.StoredSession) error {
	d, err := newSessionDoc(s, a.tokens.stored(s.Token))
	if _, unfindable := a.tokens.filter(s.Token); err == nil && unfindable != nil {
		err = errText
	}
	if err == nil {
		err = a.sessions.add(ctx, d)
	}
	return fail(ctx, "create session", err)
}

// GetSession implements [storage.SessionStore]. It replaces a plain token in the
// database by its hash, unless [Options].PlainTokens is set.
func (a *Adapter) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	d, err := a.findSession(ctx, token)
	if err != nil {
		return storage.StoredSession{}, fail(ctx, "get session", err)
	}
	return d.session(token), nil
}

// findSession returns the document of a session, or ErrNotFound. If the database has the
// plain token and should have the hash, findSession writes the hash.
func (a *Adapter) findSession(ctx context.Context, token string) (d sessionDoc, err error) {
	filter, err := a.tokens.filter(token)
	if err != nil {
		return d, err
	}
	if err := find(ctx, a.sessions, filter, &d); err != nil {
		return d, err
	}
	if stored := a.tokens.stored(token); d.Token != stored {
		_, err = a.sessions.UpdateOne(ctx, bson.D{{Key: "_id", Value: d.ID}, {Key: "sessionToken", Value: token}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "sessionToken", Value: stored}}}})
	}
	return d, err
}

// GetSessionAndUser implements [storage.SessionAdapter]. It takes two round trips, and a
// third to replace a plain token by its hash, as GetSession does. A session of a user
// who is kept elsewhere is ErrNotFound.
func (a *Adapter) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	var u storage.User
	d, err := a.findSession(ctx, token)
	switch {
	case err == nil && d.User != "": // of a user who is kept elsewhere
		err = storage.ErrNotFound
	case err == nil:
		u, err = a.users.find(ctx, bson.D{{Key: "_id", Value: d.UserID}})
	}
	if err != nil {
		return storage.StoredSession{}, storage.User{}, fail(ctx, "get session and user", err)
	}
	return d.session(token), u, nil
}

// UpdateSession implements [storage.SessionAdapter] and [storage.SessionStore]. A session
// that expires later than expires stays as it is, without an error.
func (a *Adapter) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	filter, err := a.tokens.filter(token)
	if err != nil {
		return fail(ctx, "update session", err)
	}
	done, err := a.sessions.UpdateOne(ctx, filter, bson.D{{Key: "$max", Value: bson.D{{Key: "expires", Value: expires}}}})
	if err == nil && done.MatchedCount == 0 {
		err = storage.ErrNotFound
	}
	return fail(ctx, "update session", err)
}

// DeleteSession implements [storage.SessionAdapter] and [storage.SessionStore]. A token
// of no session is ErrNotFound.
func (a *Adapter) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	var d sessionDoc
	filter, err := a.tokens.filter(token)
	if err == nil {
		err = a.sessions.remove(ctx, filter, &d)
	}
	if err != nil {
		return storage.StoredSession{}, fail(ctx, "delete session", err)
	}
	return d.session(token), nil
}

// ListSessions implements [storage.SessionListAdapter]. The newest comes first.
func (a *Adapter) ListSessions(ctx context.Context, userID string) (list []storage.StoredSession, err error) {
	found, err := findAll[sessionDoc](ctx, a.sessions, ofUser(userID))
	for _, d := range found {
		list = append(list, d.session(""))
	}
	slices.SortFunc(list, func(a, b storage.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires), cmp.Compare(a.ID, b.ID))
	})
	return list, fail(ctx, "list sessions", err)
}

// ofUser returns the filter of the sessions of the user with the given id. A user who is
// kept elsewhere may have an id of any form.
func ofUser(id string) bson.D {
	owner := bson.D{{Key: "userId", Value: objectID(id)}}
	if _, is := parseID(id); is {
		return append(owner, bson.E{Key: "user", Value: bson.D{{Key: "$exists", Value: false}}})
	}
	if !storable(id) {
		id = "" // which no session has
	}
	return append(owner, bson.E{Key: "user", Value: id})
}

// DeleteSessionByID implements [storage.SessionListAdapter].
func (a *Adapter) DeleteSessionByID(ctx context.Context, userID, id string) error {
	err := storage.ErrNotFound
	if id != "" && storable(id) {
		named := bson.A{bson.D{{Key: "sessionId", Value: id}}}
		if oid := objectID(id); oid.Hex() == id {
			named = append(named, bson.D{{Key: "_id", Value: oid}, {Key: "sessionId", Value: bson.D{{Key: "$exists", Value: false}}}})
		}
		var gone struct{}
		err = a.sessions.remove(ctx, append(ofUser(userID), bson.E{Key: "$or", Value: named}), &gone)
	}
	return fail(ctx, "delete session by id", err)
}

// DeleteSessions implements [storage.SessionListAdapter].
func (a *Adapter) DeleteSessions(ctx context.Context, userID, keep string) (int, error) {
	filter := ofUser(userID)
	if keep != "" && storable(keep) { // no session has another id
		// keep is the sessionId of a session, or the _id of one without a sessionId. If it is
		// no ObjectID, objectID makes one of it that no session has.
		filter = append(filter, isNot("sessionId", keep), isNot("_id", objectID(keep)))
	}
	gone, err := a.sessions.DeleteMany(ctx, filter)
	if err != nil {
		return 0, fail(ctx, "delete sessions", err)
	}
	return int(gone.DeletedCount), nil
}

// isNot returns the condition that a field is absent or has another value.
func isNot(field string, value any) bson.E {
	return bson.E{Key: field, Value: bson.D{{Key: "$ne", Value: value}}}
}

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. It looks for sessions
// by sids, or by subs if there are no sids, and removes them one by one. The returned
// sessions have no Token. With an error it returns those that it has removed before.
func (a *Adapter) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) (gone []storage.StoredSession, err error) {
	field, names := "providerSid", sids
	if len(sids) == 0 {
		field, names = "providerSub", subs
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || !storable(name) })
	if len(names) == 0 {
		return nil, fail(ctx, "delete provider sessions", ctx.Err())
	}
	old := bson.A{bson.D{{Key: "providerIssued", Value: bson.D{{Key: "$exists", Value: false}}}}, bson.D{{Key: "providerIssued", Value: bson.D{{Key: "$lte", Value: issued}}}}}
	filter := bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: names}}}, {Key: "$or", Value: old}}
	for {
		var d sessionDoc
		switch err := a.sessions.remove(ctx, filter, &d); {
		case errors.Is(err, storage.ErrNotFound):
			return gone, nil
		case err != nil:
			return gone, fail(ctx, "delete provider sessions", err)
		}
		gone = append(gone, d.session(""))
	}
}
