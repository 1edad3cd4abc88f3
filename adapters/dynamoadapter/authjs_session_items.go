package dynamoadapter

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/storage"
)

// sessionItems reads and ends sessions. The note of a session is a record of this
// package that leads from the token to the user until the index does.
type sessionItems struct {
	*sharedItems
	now func() time.Time
}

// find returns the items of a session and of its user by consistent reads, and a nil
// user if there is none. It learns the user's id from the index, or else from the note.
// It returns ErrNotFound for an unknown session.
func (s *sessionItems) find(ctx context.Context, token string) (session, user item, err error) {
	if token == "" || !isKey(ofSession+token) {
		return nil, nil, storage.ErrNotFound
	}
	keys, err := s.index(ctx, ofSession+token, ofSession+token)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		session, user, err := s.of(ctx, strings.TrimPrefix(textOf(key[s.db.pk]), ofUser), token)
		if !errors.Is(err, storage.ErrNotFound) {
			return session, user, err
		}
	}
	notes, err := s.db.Get(ctx, noteOfSession(token))
	if err != nil {
		return nil, nil, err
	}
	if len(notes) == 0 {
		return nil, nil, storage.ErrNotFound
	}
	return s.of(ctx, holderOf(notes[0]).User, token)
}

// of returns the items of a user's session and of the user; the latter is nil if there
// is no user. It returns ErrNotFound if the user has no session with the token.
func (s *sessionItems) of(ctx context.Context, user, token string) (session, of item, err error) {
	found, err := s.db.items(ctx, s.sessionAt(user, token), s.userAt(user))
	for _, one := range found {
		if textOf(one[s.db.sk]) == ofUser+user {
			of = one
		} else {
			session = one
		}
	}
	if err == nil && (textOf(session["sessionToken"]) != token || textOf(session["userId"]) != user) {
		err = storage.ErrNotFound
	}
	return session, of, err
}

// renew sets a later expiry. It returns ErrConflict if the stored expiry is not earlier
// than expires, or if the session was deleted. An expiry that is stored as text is always
// replaced.
func (s *sessionItems) renew(ctx context.Context, in item, expires time.Time) error {
	e := newExpression()
	later := e.value(secondsOf(expires))
	e.and("attribute_exists(" + e.name(s.db.pk) + ")")
	e.and("(" + e.name("expires") + " < " + later + " OR attribute_type(" + e.name("expires") + ", " + e.value(text("S")) + "))")
	_, err := s.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.db.table, Key: item{s.db.pk: in[s.db.pk], s.db.sk: in[s.db.sk]},
		UpdateExpression:    new("SET " + e.name("expires") + " = " + later),
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// end removes the session that was read, and its note, and returns the session as it was
// removed. It returns ErrNotFound if another call has removed or replaced the session. A
// renewal by Auth.js does not prevent the removal.
func (s *sessionItems) end(ctx context.Context, in item) (storage.StoredSession, error) {
	out, err := s.remove(ctx, in)
	if err != nil {
		return storage.StoredSession{}, err
	}
	_, _ = s.db.Delete(ctx, noteOfSession(textOf(out["sessionToken"])), "") // a note that stays leads to nothing
	return asSession(out)
}

// list returns the items of a user's sessions, those of Auth.js included. Some may be no
// sessions: asSession tells.
func (s *sessionItems) list(ctx context.Context, userID string) ([]item, error) {
	if !isKey(ofUser + userID) {
		return nil, nil
	}
	return s.db.partition(ctx, ofUser+userID, ofSession)
}
