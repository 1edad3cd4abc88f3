package dynamoadapter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/storage"
)

var fieldsOfLink = []string{"type", "identifier", "token", "expires", "purpose", versionField}

// CreateVerificationToken implements [storage.VerificationTokenAdapter].
func (a *authJS) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	if !isKey(ofLink+t.Identifier, ofLink+t.Token) {
		return errTooLong
	}
	if !areUTF8(t.Purpose) {
		return errNoUTF8
	}
	in := a.items.db.at(ofLink+t.Identifier, ofLink+t.Token)
	in["expires"], in["identifier"], in["token"] = secondsOf(t.Expires), text(t.Identifier), text(t.Token)
	putTexts(in, map[string]string{"type": "VT", "purpose": t.Purpose, versionField: newUUID()})
	return a.items.create(ctx, in)
}

// UseVerificationToken implements [storage.VerificationTokenAdapter]. A link without an
// expiry is ErrNotFound, and is deleted.
func (a *authJS) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	if !isKey(ofLink+identifier, ofLink+token) {
		return storage.VerificationToken{}, storage.ErrNotFound
	}
	out, err := a.items.db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &a.items.db.table, Key: a.items.db.at(ofLink+identifier, ofLink+token), ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		return storage.VerificationToken{}, failure(ctx, err)
	}
	expires, says := expiryOf(out.Attributes["expires"])
	if !says {
		return storage.VerificationToken{}, storage.ErrNotFound
	}
	return storage.VerificationToken{Identifier: identifier, Token: token, Expires: expires, Purpose: textOf(out.Attributes["purpose"])}, nil
}
