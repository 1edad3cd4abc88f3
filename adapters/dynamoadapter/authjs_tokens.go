package dynamoadapter

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/storage"
)

// fieldsOfTokens are the attributes of an account that hold its tokens.
var fieldsOfTokens = []string{
	"refresh_token", "access_token", "expires_at", "token_type", "scope", "id_token", "session_state", "authorization_details", "token_extra",
}

// SwapTokens implements [storage.TokenAdapter]. It returns errNoUTF8 or errMember for
// tokens that cannot be stored.
func (a *authJS) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	in, err := a.accounts.find(ctx, provider, providerAccountID)
	if err != nil {
		return err
	}
	account := a.accounts.asAccount(in)
	if account.Tokens.AccessToken != old.AccessToken || account.Tokens.RefreshToken != old.RefreshToken {
		return storage.ErrConflict
	}
	account.Tokens = next
	after, err := a.accounts.item(account, textOf(in[bornField]))
	if err != nil {
		return err
	}
	err = a.accounts.swap(ctx, in, after)
	if !errors.Is(err, storage.ErrConflict) {
		return err
	}
	if _, gone := a.accounts.find(ctx, provider, providerAccountID); gone != nil {
		return gone
	}
	return err
}

// swap replaces the tokens of the account that was read by those of after, and leaves
// the other attributes as stored. It returns ErrConflict if the stored access token or
// refresh token is not that of read, or if there is no account. If the stored item has
// the version of after, the client has repeated the call, and swap returns nil.
func (s *accountItems) swap(ctx context.Context, read, after item) error {
	e := newExpression()
	var same, set, remove []string
	for _, name := range []string{"refresh_token", "access_token"} {
		if v, has := read[name]; has {
			same = append(same, e.name(name)+" = "+e.value(v))
		} else {
			same = append(same, "attribute_not_exists("+e.name(name)+")")
		}
	}
	version := e.name(versionField) + " = " + e.value(after[versionField])
	e.and("attribute_exists(" + e.name(s.db.pk) + ")")
	e.and("(" + strings.Join(same, " AND ") + " OR " + version + ")")
	for _, name := range fieldsOfTokens {
		if v, has := after[name]; has {
			set = append(set, e.name(name)+" = "+e.value(v))
		} else {
			remove = append(remove, e.name(name))
		}
	}
	change := "SET " + strings.Join(append(set, version), ", ")
	if len(remove) > 0 {
		change += " REMOVE " + strings.Join(remove, ", ")
	}
	_, err := s.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.db.table, Key: item{s.db.pk: read[s.db.pk], s.db.sk: read[s.db.sk]}, UpdateExpression: &change,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	return orConflict(ctx, err)
}
