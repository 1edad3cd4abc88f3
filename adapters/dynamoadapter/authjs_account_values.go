package dynamoadapter

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/storage"
)

// Attributes of accounts that Auth.js does not have.
const (
	bornField    = "born"    // the birth of the user: tells users apart that had one id
	pendingField = "pending" // set until publish: the account signs no user in yet
)

var fieldsOfAccount = []string{
	"id", "userId", "type", "provider", "providerAccountId", "refresh_token", "access_token", "expires_at", "token_type", "scope", "id_token", "session_state",
	"authorization_details", "token_extra", "email", "emailVouched", bornField, pendingField, versionField, "expires",
}

// item returns the item of an account that is begun. born is the birth of its user. It
// returns errTooLong, errNoUTF8, errMember or errReserved for an account that cannot be
// stored.
func (s *accountItems) item(account storage.Account, born string) (item, error) {
	t := account.Tokens
	if !fitsAccount(account.UserID, account.Provider, account.ProviderAccountID) {
		return nil, errTooLong
	}
	if !areUTF8(string(account.Type), account.Email, t.RefreshToken, t.AccessToken, t.TokenType, t.Scope, t.IDToken, t.SessionState) {
		return nil, errNoUTF8
	}
	in := s.accountAt(account.UserID, account.Provider, account.ProviderAccountID)
	putTexts(in, map[string]string{
		"id": newUUID(), "userId": account.UserID, "type": string(account.Type), "provider": account.Provider, "providerAccountId": account.ProviderAccountID,
		"refresh_token": t.RefreshToken, "access_token": t.AccessToken, "token_type": t.TokenType, "scope": t.Scope, "id_token": t.IDToken,
		"session_state": t.SessionState, "email": account.Email, bornField: born, pendingField: "yes", versionField: newUUID(),
	})
	if account.EmailVouched {
		in["emailVouched"] = &types.AttributeValueMemberBOOL{Value: true}
	}
	if !t.ExpiresAt.IsZero() {
		in["expires_at"] = number(strconv.FormatInt(t.ExpiresAt.Unix(), 10))
	}
	var err error
	if len(t.AuthorizationDetails) > 0 {
		if in["authorization_details"], err = attributeOf(t.AuthorizationDetails); err != nil {
			return nil, err
		}
	}
	if len(t.Extra) > 0 {
		if in["token_extra"], err = attributeOf(t.Extra); err != nil {
			return nil, err
		}
	}
	return in, putExtra(in, account.Extra, fieldsOfAccount, s.layout.keys())
}

// asAccount returns the account of an item. It leaves out what has another type
// than this package writes.
func (s *accountItems) asAccount(in item) storage.Account {
	account := storage.Account{
		ID: textOf(in["id"]), UserID: textOf(in["userId"]), Provider: textOf(in["provider"]), ProviderAccountID: textOf(in["providerAccountId"]),
		Type: storage.ProviderType(textOf(in["type"])), Email: textOf(in["email"]), EmailVouched: boolOf(in["emailVouched"]),
		Extra: extraOf(in, fieldsOfAccount, s.layout.keys()),
		Tokens: storage.Tokens{
			RefreshToken: textOf(in["refresh_token"]), AccessToken: textOf(in["access_token"]), TokenType: textOf(in["token_type"]),
			Scope: textOf(in["scope"]), IDToken: textOf(in["id_token"]), SessionState: textOf(in["session_state"]),
		},
	}
	if n, is := in["expires_at"].(*types.AttributeValueMemberN); is {
		if seconds, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			account.Tokens.ExpiresAt = time.Unix(seconds, 0).UTC()
		}
	}
	account.Tokens.Extra, _ = valueOf(in["token_extra"]).(map[string]any)
	details, _ := valueOf(in["authorization_details"]).([]any)
	for _, one := range details {
		if detail, is := one.(map[string]any); is {
			account.Tokens.AuthorizationDetails = append(account.Tokens.AuthorizationDetails, detail)
		}
	}
	return account
}
