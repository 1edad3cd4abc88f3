package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a session says of the proofs of its user, and the new token that it gets
// after another proof.

func (d *databaseStrategy) renewal(v *visit, _ *currentUser, p directory.Proof) renewal {
	former := rowToken(v.credential.Token())
	now := d.setup.now().UTC()
	next := storage.StoredSession{Token: d.newToken(), Expires: now.Add(d.setup.config.Session.MaxAge).Truncate(time.Millisecond), AMR: p.AMR, ACR: p.ACR}
	v.hide(next.Token)
	return renewal{
		stored: func(ctx context.Context, s *directory.Store, after time.Time) error {
			next.Proved = laterOf(p.At, after).UTC()
			return s.RenewSession(ctx, former, next)
		},
		done: func(context.Context) error {
			v.credential.Put(browser.Escape(next.Token), next.Expires)
			return nil
		},
	}
}

func (t *tokenStrategy) renewal(v *visit, here *currentUser, p directory.Proof) renewal {
	return renewal{
		stored: func(_ context.Context, _ *directory.Store, after time.Time) error {
			p.At = laterOf(p.At, after)
			return nil
		},
		done: func(ctx context.Context) error {
			token := v.credential.Token()
			claims, err := t.decode(ctx, token.Text, token.Spec)
			if err != nil {
				return err
			}
			t.track(claims)
			if claims.String(jwtclaims.SessionID) != here.sessionID {
				return directory.ErrNoToken
			}
			putAssurance(claims, p)
			return t.seal(ctx, v, claims, life{})
		},
	}
}
