package dynamoadapter

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountItems takes accounts through their states: begun, claimed by a note, linked.
// The note is a record of this package that leads from the account to its user. An
// account is written without the keys of the index first, so that Auth.js does not find
// it; then its note, which decides whose it is; then the keys. A call that finds a note
// and an account without keys adds the keys.
type accountItems struct {
	*sharedItems
	users *userItems
	conn  userConn
}

// fitsAccount reports whether the keys of an account are short enough for
// DynamoDB.
func fitsAccount(user, provider, id string) bool {
	return isKey(ofUser+user, ofAccount+provider+"#"+id)
}

// begin writes an account that signs no user in before claim and publish. born is the birth
// of its user, see birthOf. begin writes over an account of the same user that was begun
// before, by any call, and over one of a former user of the same id. It returns ErrConflict
// if the user has the account already.
func (s *accountItems) begin(ctx context.Context, in item, born string) error {
	e := newExpression()
	e.and("(attribute_not_exists(" + e.name(s.db.pk) + ") OR attribute_exists(" + e.name(pendingField) + ") OR " + e.name(versionField) + " = " + e.value(in[versionField]) +
		" OR attribute_exists(" + e.name(bornField) + ") AND " + e.name(bornField) + " <> " + e.value(text(born)) + ")")
	_, err := s.db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.db.table, Item: in, ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// claim gives the account, which was begun, to a holder by its note. It returns
// ErrConflict if another user has the account, and errBusy after mostTries tries.
func (s *accountItems) claim(ctx context.Context, provider, id string, by holder) error {
	note := by.note(noteOfAccount(provider, id), time.Time{})
	var seen string
	for range mostTries {
		err := s.db.Put(ctx, note, seen)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		found, err := s.db.Get(ctx, note.Key)
		if err != nil {
			return err
		}
		if seen = ""; len(found) == 0 {
			continue
		}
		if of := holderOf(found[0]); of != by {
			_, err := s.held(ctx, provider, id, of)
			if err == nil {
				return storage.ErrConflict
			}
			if err := ignore(err, storage.ErrNotFound); err != nil {
				return err
			}
		}
		seen = found[0].Version
	}
	return errBusy
}

// mostTries is how many times a call tries a change. It tries again if another call has
// changed the item meanwhile.
const mostTries = 500

var errBusy = errors.New("dynamoadapter: others changed an item each time this call was about to")

// publish adds the keys of the index to an account that was begun and claimed. It
// returns ErrConflict if the stored item has another version than in, or if there is
// none.
func (s *accountItems) publish(ctx context.Context, in item) error {
	e := newExpression()
	e.and(e.name(versionField) + " = " + e.value(in[versionField]))
	change := "SET " + e.name(s.layout.IndexPartitionKey) + " = " + e.value(text(ofAccount+textOf(in["provider"]))) + ", " +
		e.name(s.layout.IndexSortKey) + " = " + e.value(text(ofAccount+textOf(in["providerAccountId"]))) + " REMOVE " + e.name(pendingField)
	_, err := s.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.db.table, Key: item{s.db.pk: in[s.db.pk], s.db.sk: in[s.db.sk]}, UpdateExpression: &change,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// withdraw removes an account that was begun. It ignores errors: an account that stays
// belongs to no user.
func (s *accountItems) withdraw(ctx context.Context, in item) { _, _ = s.remove(ctx, in) }

// held returns the account of a holder, and first publishes it if it was only begun. It
// returns ErrNotFound if the holder does not have the account, or if the user was
// deleted.
func (s *accountItems) held(ctx context.Context, provider, id string, by holder) (item, error) {
	if !fitsAccount(by.User, provider, id) {
		return nil, storage.ErrNotFound
	}
	in, err := s.get(ctx, s.accountAt(by.User, provider, id))
	if err != nil {
		return nil, err
	}
	if !isAccount(in, provider, id) || !isBorn(in, by.Born) {
		return nil, storage.ErrNotFound
	}
	if born, err := s.users.birthOf(ctx, by.User); err != nil {
		return nil, err
	} else if born != by.Born {
		return nil, storage.ErrNotFound
	}
	if _, pending := in[pendingField]; pending {
		switch err := s.publish(ctx, in); {
		case errors.Is(err, storage.ErrConflict):
			return nil, storage.ErrNotFound // begun again by the same user, or unlinked
		case err != nil:
			return nil, err
		}
	}
	return in, nil
}

// isAccount reports whether an item is that of the account. It returns false for nil.
func isAccount(in item, provider, id string) bool {
	return in != nil && textOf(in["provider"]) == provider && textOf(in["providerAccountId"]) == id
}

// isBorn reports whether an account can belong to the user with that birth. An account
// that Auth.js has linked has no birth, so isBorn returns true for it.
func isBorn(in item, born string) bool {
	of, says := in[bornField]
	return !says || textOf(of) == born
}

// find returns the account of a user that was not deleted. It looks for the account by
// its note, and then by the index. An account that it finds by its note and that was
// only begun is published first. find returns ErrNotFound if there is no account.
func (s *accountItems) find(ctx context.Context, provider, id string) (item, error) {
	if !fitsAccount("", provider, id) {
		return nil, storage.ErrNotFound
	}
	found, err := s.db.Get(ctx, noteOfAccount(provider, id))
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		in, err := s.held(ctx, provider, id, holderOf(found[0]))
		if !errors.Is(err, storage.ErrNotFound) {
			return in, err
		}
	}
	keys, err := s.index(ctx, ofAccount+provider, ofAccount+id)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		in, err := s.indexed(ctx, key, provider, id)
		if !errors.Is(err, storage.ErrNotFound) {
			return in, err
		}
	}
	return nil, storage.ErrNotFound
}

// indexed reads the account that a key from the index leads to. It returns ErrNotFound
// if there is no such account, if it was only begun, or if its user was deleted.
func (s *accountItems) indexed(ctx context.Context, key item, provider, id string) (item, error) {
	in, err := s.get(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, pending := in[pendingField]; pending || !isAccount(in, provider, id) {
		return nil, storage.ErrNotFound
	}
	born, err := s.users.birthOf(ctx, textOf(in["userId"]))
	if err == nil && !isBorn(in, born) {
		err = storage.ErrNotFound
	}
	return in, err
}

// isLinked reports whether an account signs its user in. It returns true for an account
// without the field pendingField. An account with the field was begun and perhaps not
// finished: isLinked then looks the account up, and reports whether the same user has
// it.
func (s *accountItems) isLinked(ctx context.Context, in item) (bool, error) {
	if _, pending := in[pendingField]; !pending {
		return true, nil
	}
	now, err := s.find(ctx, textOf(in["provider"]), textOf(in["providerAccountId"]))
	return err == nil && textOf(now["userId"]) == textOf(in["userId"]), ignore(err, storage.ErrNotFound)
}
