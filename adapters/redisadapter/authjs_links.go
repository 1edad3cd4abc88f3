package redisadapter

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// linkObject is the record of a magic link.
type linkObject struct {
	Identifier string `json:"identifier"`
	Token      string `json:"token"`
	Expires    iso    `json:"expires"`
	Purpose    string `json:"purpose,omitempty"` // ours
}

// keyOfLink returns the key of a magic link.
func (a *authJS) keyOfLink(identifier, token string) string {
	return a.keys.at(ofLink, identifier+":"+token)
}

// CreateVerificationToken implements [storage.VerificationTokenAdapter].
func (a *authJS) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	if !areUTF8(t.Identifier, t.Token, t.Purpose) {
		return errNoUTF8
	}
	text, err := encodeObject(nil, linkObject{t.Identifier, t.Token, iso{t.Expires}, t.Purpose}, nil)
	if err != nil {
		return err
	}
	key := a.keyOfLink(t.Identifier, t.Token)
	return a.keys.change(ctx, func(p *plan) error {
		taken, err := a.keys.text(ctx, key)
		if err == nil && taken != nil {
			err = storage.ErrConflict
		}
		p.want(key, nil)
		p.setUntil(key, text, t.Expires)
		return err
	})
}

// UseVerificationToken implements [storage.VerificationTokenAdapter]. Auth.js
// reads first and deletes afterwards: a link that is opened at both in the same
// instant may open twice.
func (a *authJS) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	key := a.keyOfLink(identifier, token)
	var used linkObject
	err := a.keys.end(ctx, func(p *plan) error {
		text, err := a.keys.text(ctx, key)
		if err != nil {
			return err
		}
		used = linkObject{}
		if !decodeObject(text, &used) || used.Identifier != identifier || used.Token != token {
			return storage.ErrNotFound
		}
		p.want(key, text)
		p.Delete = append(p.Delete, key)
		return nil
	})
	if err != nil {
		return storage.VerificationToken{}, err
	}
	return storage.VerificationToken{Identifier: identifier, Token: token, Expires: used.Expires.Time, Purpose: used.Purpose}, nil
}
