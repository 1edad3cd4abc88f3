package dynamoadapter

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey"
)

func (a *authJS) sessionAt(user, token string) item {
	return a.db.at(ofUser+user, ofSession+token)
}

// CreateSession implements [latchkey.SessionStore].
func (a *authJS) CreateSession(ctx context.Context, s latchkey.StoredSession) error {
	in, err := a.sessionItem(s)
	if err != nil {
		return err
	}
	note := holder{User: s.UserID}.note(noteOfSession(s.Token), a.now().Add(noteLife))
	if err := a.db.Put(ctx, note, ""); err != nil {
		return err
	}
	return a.create(ctx, in)
}

// session finds the item of a session, and the one of its user, as of now: by the
// index, and else by its note.
func (a *authJS) session(ctx context.Context, token string) (session, user item, err error) {
	if token == "" || !isKey(ofSession+token) {
		return nil, nil, latchkey.ErrNotFound
	}
	keys, err := a.index(ctx, ofSession+token, ofSession+token)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		session, user, err := a.sessionOf(ctx, strings.TrimPrefix(textOf(key[a.db.pk]), ofUser), token)
		if !errors.Is(err, latchkey.ErrNotFound) {
			return session, user, err
		}
	}
	notes, err := a.db.Get(ctx, noteOfSession(token))
	if err != nil {
		return nil, nil, err
	}
	if len(notes) == 0 {
		return nil, nil, latchkey.ErrNotFound
	}
	return a.sessionOf(ctx, holderOf(notes[0]).User, token)
}

func (a *authJS) sessionOf(ctx context.Context, user, token string) (session, of item, err error) {
	found, err := a.db.items(ctx, a.sessionAt(user, token), a.userAt(user))
	for _, one := range found {
		if textOf(one[a.db.sk]) == ofUser+user {
			of = one
		} else {
			session = one
		}
	}
	if err == nil && (textOf(session["sessionToken"]) != token || textOf(session["userId"]) != user) {
		err = latchkey.ErrNotFound
	}
	return session, of, err
}

// GetSession implements [latchkey.SessionStore].
func (a *authJS) GetSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	in, _, err := a.session(ctx, token)
	if err != nil {
		return latchkey.StoredSession{}, err
	}
	return asSession(in)
}

// GetSessionAndUser implements [latchkey.SessionAdapter], in two round trips.
func (a *authJS) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	in, of, err := a.session(ctx, token)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	s, err := asSession(in)
	if err != nil {
		return s, latchkey.User{}, err
	}
	u, err := a.asUser(ctx, s.UserID, of)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	return s, u, nil
}

// asUser is the user of an item that was read with something else; one who is
// being made or deleted is asked for.
func (a *authJS) asUser(ctx context.Context, id string, in item) (latchkey.User, error) {
	if in == nil {
		return latchkey.User{}, latchkey.ErrNotFound
	}
	if detailsOf(in)["state"] != nil {
		return a.GetUser(ctx, id)
	}
	return latchkey.User{
		ID: id, Name: textOf(in["name"]), Email: textOf(in["email"]), EmailVerified: timeOf(in["emailVerified"]), Image: textOf(in["image"]),
		Extra: extraOf(in, fieldsOfUser, a.layout.keys()),
	}, nil
}

// UpdateSession implements [latchkey.SessionStore].
func (a *authJS) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	in, _, err := a.session(ctx, token)
	if err != nil {
		return err
	}
	if until, says := expiryOf(in["expires"]); says && !expires.After(until) {
		return nil
	}
	e := newExpression()
	later := e.value(secondsOf(expires))
	e.and("attribute_exists(" + e.name(a.db.pk) + ")")
	e.and("(" + e.name("expires") + " < " + later + " OR attribute_type(" + e.name("expires") + ", " + e.value(text("S")) + "))")
	_, err = a.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &a.db.table, Key: item{a.db.pk: in[a.db.pk], a.db.sk: in[a.db.sk]},
		UpdateExpression:    new("SET " + e.name("expires") + " = " + later),
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	if !isRefused(err) {
		return failure(ctx, err)
	}
	_, err = a.GetSession(ctx, token) // somebody was faster: with a later expiry, or with its end
	return err
}

// DeleteSession implements [latchkey.SessionStore].
func (a *authJS) DeleteSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	in, _, err := a.session(ctx, token)
	if err != nil {
		return latchkey.StoredSession{}, err
	}
	return a.end(ctx, in)
}

func (a *authJS) end(ctx context.Context, in item) (latchkey.StoredSession, error) {
	out, err := a.removeItem(ctx, in)
	if err != nil {
		return latchkey.StoredSession{}, err
	}
	_, _ = a.db.Delete(ctx, noteOfSession(textOf(out["sessionToken"])), "") // one that is left over leads to nothing
	return asSession(out)
}

// sessions are those of a user, whoever has made them.
func (a *authJS) sessions(ctx context.Context, userID string) ([]item, error) {
	if !isKey(ofUser + userID) {
		return nil, nil
	}
	return a.db.partition(ctx, ofUser+userID, ofSession)
}

// ListSessions implements [latchkey.SessionListAdapter]. A renewal by Auth.js that
// meets the end of a session leaves an item that says no user, and opens nothing.
func (a *authJS) ListSessions(ctx context.Context, userID string) (list []latchkey.StoredSession, err error) {
	found, err := a.sessions(ctx, userID)
	for _, in := range found {
		if s, err := asSession(in); err == nil && s.UserID == userID {
			s.Token = ""
			list = append(list, s)
		}
	}
	return list, err
}

// DeleteSessionByID implements [latchkey.SessionListAdapter].
func (a *authJS) DeleteSessionByID(ctx context.Context, userID, id string) error {
	found, err := a.sessions(ctx, userID)
	if err != nil {
		return err
	}
	for _, in := range found {
		if s, err := asSession(in); err == nil && s.ID == id {
			_, err := a.end(ctx, in)
			return err
		}
	}
	return latchkey.ErrNotFound
}

// DeleteSessions implements [latchkey.SessionListAdapter]. One that cannot be ended
// keeps none of the others.
func (a *authJS) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	found, err := a.sessions(ctx, userID)
	for _, in := range found {
		if s, err := asSession(in); err == nil && keep != "" && s.ID == keep {
			continue
		}
		_, failed := a.end(ctx, in)
		if failed == nil {
			n++
		}
		err = errors.Join(err, ignore(failed, latchkey.ErrNotFound))
	}
	return n, err
}
