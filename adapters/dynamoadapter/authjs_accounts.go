package dynamoadapter

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey"
)

// An account is written without the keys of the index first, so that Auth.js does
// not find it; then its note, which decides whose it is; then the keys. Whoever
// finds a note and an account without keys adds them.

func (a *authJS) accountAt(user, provider, id string) item {
	return a.db.at(ofUser+user, ofAccount+provider+"#"+id)
}

func fitsAccount(user, provider, id string) bool {
	return isKey(ofUser+user, ofAccount+provider+"#"+id)
}

// LinkAccount implements [latchkey.Adapter]. An unknown user is ErrNotFound; an
// account whose user was deleted is free.
func (a *authJS) LinkAccount(ctx context.Context, account latchkey.Account) error {
	born, err := a.birthOf(ctx, account.UserID)
	if err != nil {
		return err
	}
	provider, id := account.Provider, account.ProviderAccountID
	in, err := a.accountItem(account, born)
	if err != nil {
		return err
	}
	switch _, err := a.account(ctx, provider, id); {
	case err == nil:
		return latchkey.ErrConflict
	case !errors.Is(err, latchkey.ErrNotFound):
		return err
	}
	if err := a.begin(ctx, in, born); err != nil {
		return err
	}
	if err := a.claim(ctx, provider, id, holder{account.UserID, born}); err != nil {
		a.withdraw(ctx, in)
		return err
	}
	if err := a.publish(ctx, in); err != nil {
		return err
	}
	now, err := a.birthOf(ctx, account.UserID)
	if errors.Is(err, latchkey.ErrNotFound) || err == nil && now != born { // deleted meanwhile
		a.withdraw(ctx, in)
		return latchkey.ErrNotFound
	}
	return err
}

// begin writes an account that is nobody's yet, over one that was begun before.
func (a *authJS) begin(ctx context.Context, in item, born string) error {
	e := newExpression()
	e.and("(attribute_not_exists(" + e.name(a.db.pk) + ") OR attribute_exists(" + e.name(pendingField) + ") OR " + e.name(versionField) + " = " + e.value(in[versionField]) +
		" OR attribute_exists(" + e.name(bornField) + ") AND " + e.name(bornField) + " <> " + e.value(text(born)) + ")")
	_, err := a.db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &a.db.table, Item: in, ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// claim makes the account by's, unless it is somebody's.
func (a *authJS) claim(ctx context.Context, provider, id string, by holder) error {
	note := by.note(noteOfAccount(provider, id), time.Time{})
	var seen string
	for range mostTries {
		err := a.db.Put(ctx, note, seen)
		if !errors.Is(err, latchkey.ErrConflict) {
			return err
		}
		found, err := a.db.Get(ctx, note.Key)
		if err != nil {
			return err
		}
		if seen = ""; len(found) == 0 {
			continue
		}
		if of := holderOf(found[0]); of != by {
			_, err := a.held(ctx, provider, id, of)
			if err == nil {
				return latchkey.ErrConflict
			}
			if err := ignore(err, latchkey.ErrNotFound); err != nil {
				return err
			}
		}
		seen = found[0].Version
	}
	return errBusy
}

// mostTries bounds how often a change is decided anew: each time somebody else's
// has succeeded.
const mostTries = 500

var errBusy = errors.New("dynamoadapter: others changed an item each time this call was about to")

// publish adds the keys of the index. ErrConflict: another account has taken the
// place of what was begun.
func (a *authJS) publish(ctx context.Context, in item) error {
	e := newExpression()
	e.and(e.name(versionField) + " = " + e.value(in[versionField]))
	change := "SET " + e.name(a.layout.IndexPartitionKey) + " = " + e.value(text(ofAccount+textOf(in["provider"]))) + ", " +
		e.name(a.layout.IndexSortKey) + " = " + e.value(text(ofAccount+textOf(in["providerAccountId"]))) + " REMOVE " + e.name(pendingField)
	_, err := a.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &a.db.table, Key: item{a.db.pk: in[a.db.pk], a.db.sk: in[a.db.sk]}, UpdateExpression: &change,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}

// withdraw removes what was begun. What is left over would be nobody's.
func (a *authJS) withdraw(ctx context.Context, in item) { _, _ = a.removeItem(ctx, in) }

// removeItem deletes an item as it was seen, and returns what it was;
// ErrNotFound: it is no more, or another.
func (a *authJS) removeItem(ctx context.Context, seen item) (item, error) {
	e := newExpression()
	e.and("attribute_exists(" + e.name(a.db.pk) + ")")
	if v, has := seen[versionField]; has {
		e.and(e.name(versionField) + " = " + e.value(v))
	} else {
		e.and("attribute_not_exists(" + e.name(versionField) + ")")
	}
	out, err := a.db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &a.db.table, Key: item{a.db.pk: seen[a.db.pk], a.db.sk: seen[a.db.sk]}, ReturnValues: types.ReturnValueAllOld,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	if isRefused(err) {
		return nil, latchkey.ErrNotFound
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.Attributes, nil
}

// held finds the account of a holder who lives; ErrNotFound: it is not theirs.
func (a *authJS) held(ctx context.Context, provider, id string, by holder) (item, error) {
	if !fitsAccount(by.User, provider, id) {
		return nil, latchkey.ErrNotFound
	}
	in, err := a.one(ctx, a.accountAt(by.User, provider, id))
	if err != nil {
		return nil, err
	}
	if !isAccount(in, provider, id) || !isBorn(in, by.Born) {
		return nil, latchkey.ErrNotFound
	}
	if born, err := a.birthOf(ctx, by.User); err != nil {
		return nil, err
	} else if born != by.Born {
		return nil, latchkey.ErrNotFound
	}
	if _, pending := in[pendingField]; pending {
		switch err := a.publish(ctx, in); {
		case errors.Is(err, latchkey.ErrConflict):
			return nil, latchkey.ErrNotFound // begun again by the same user, or unlinked
		case err != nil:
			return nil, err
		}
	}
	return in, nil
}

func isAccount(in item, provider, id string) bool {
	return in != nil && textOf(in["provider"]) == provider && textOf(in["providerAccountId"]) == id
}

// isBorn tells whether an account is of the user who was born so: Auth.js does not
// say.
func isBorn(in item, born string) bool {
	of, says := in[bornField]
	return !says || textOf(of) == born
}

// account finds whose an account is, by its note or else by the index.
func (a *authJS) account(ctx context.Context, provider, id string) (item, error) {
	if !fitsAccount("", provider, id) {
		return nil, latchkey.ErrNotFound
	}
	found, err := a.db.Get(ctx, noteOfAccount(provider, id))
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		in, err := a.held(ctx, provider, id, holderOf(found[0]))
		if !errors.Is(err, latchkey.ErrNotFound) {
			return in, err
		}
	}
	keys, err := a.index(ctx, ofAccount+provider, ofAccount+id)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		in, err := a.indexed(ctx, key, provider, id)
		if !errors.Is(err, latchkey.ErrNotFound) {
			return in, err
		}
	}
	return nil, latchkey.ErrNotFound
}

// indexed reads what the index has an account's keys of, if its user lives.
func (a *authJS) indexed(ctx context.Context, key item, provider, id string) (item, error) {
	in, err := a.one(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, pending := in[pendingField]; pending || !isAccount(in, provider, id) {
		return nil, latchkey.ErrNotFound
	}
	born, err := a.birthOf(ctx, textOf(in["userId"]))
	if err == nil && !isBorn(in, born) {
		err = latchkey.ErrNotFound
	}
	return in, err
}

// GetUserByAccount implements [latchkey.Adapter].
func (a *authJS) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (latchkey.User, error) {
	in, err := a.account(ctx, provider, providerAccountID)
	if err != nil {
		return latchkey.User{}, err
	}
	return a.GetUser(ctx, textOf(in["userId"]))
}

// GetAccount implements [latchkey.AccountAdapter].
func (a *authJS) GetAccount(ctx context.Context, provider, providerAccountID string) (latchkey.Account, error) {
	in, err := a.account(ctx, provider, providerAccountID)
	if err != nil {
		return latchkey.Account{}, err
	}
	return a.asAccount(in), nil
}

// ListAccounts implements [latchkey.AccountAdapter]. They are in the order of
// their keys, and those that Auth.js has linked are among them.
func (a *authJS) ListAccounts(ctx context.Context, userID string) (list []latchkey.Account, err error) {
	born, err := a.birthOf(ctx, userID)
	if err != nil {
		return nil, ignore(err, latchkey.ErrNotFound)
	}
	found, err := a.db.partition(ctx, ofUser+userID, ofAccount)
	if err != nil {
		return nil, err
	}
	for _, in := range found {
		if !isBorn(in, born) {
			continue
		}
		if is, err := a.isLinked(ctx, in); err != nil {
			return nil, err
		} else if is {
			list = append(list, a.asAccount(in))
		}
	}
	return list, nil
}

// isLinked tells whether an account is more than begun: one whose note says so
// opens its user, though the link was cut short.
func (a *authJS) isLinked(ctx context.Context, in item) (bool, error) {
	if _, pending := in[pendingField]; !pending {
		return true, nil
	}
	now, err := a.account(ctx, textOf(in["provider"]), textOf(in["providerAccountId"]))
	return err == nil && textOf(now["userId"]) == textOf(in["userId"]), ignore(err, latchkey.ErrNotFound)
}

// UnlinkAccount implements [latchkey.AccountAdapter].
func (a *authJS) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (latchkey.Account, error) {
	in, err := a.account(ctx, provider, providerAccountID)
	if err != nil {
		return latchkey.Account{}, err
	}
	if in, err = a.removeItem(ctx, in); err != nil {
		return latchkey.Account{}, err
	}
	account := a.asAccount(in)
	people{a.db, a.layout}.forget(ctx, noteOfAccount(provider, providerAccountID), account.UserID, in)
	return account, nil
}
