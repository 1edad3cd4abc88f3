package mongoadapter

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// linkDoc is a magic link.
type linkDoc struct {
	Identifier string    `bson:"identifier"`
	Token      string    `bson:"token"`
	Expires    time.Time `bson:"expires"`
	Purpose    string    `bson:"purpose,omitempty"`
}

// CreateVerificationToken implements [storage.VerificationTokenAdapter].
func (a *Adapter) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	err := errText
	if storable(t.Identifier, t.Token, t.Purpose) {
		err = a.links.add(ctx, linkDoc{Identifier: t.Identifier, Token: t.Token, Expires: t.Expires, Purpose: t.Purpose})
	}
	return fail(ctx, "create verification token", err)
}

// UseVerificationToken implements [storage.VerificationTokenAdapter].
func (a *Adapter) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	var d linkDoc
	err := storage.ErrNotFound
	if storable(identifier, token) {
		err = a.links.remove(ctx, bson.D{{Key: "identifier", Value: identifier}, {Key: "token", Value: token}}, &d)
	}
	if err != nil {
		return storage.VerificationToken{}, fail(ctx, "use verification token", err)
	}
	return storage.VerificationToken{Identifier: d.Identifier, Token: d.Token, Expires: d.Expires.UTC(), Purpose: d.Purpose}, nil
}
