package latchkey

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a session says of the proofs of its user, and the new token that it gets
// after another proof.

// renewal is a new token for the session of a request.
type renewal struct {
	stored func(ctx context.Context, s *directory.Store, after time.Time) error
	done   func(ctx context.Context) error
}

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

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// keepOwn remembers the claims that no callback may set, raise or drop, and more.
func (s *setup) keepOwn(c Claims, more ...string) keptClaims {
	names := append(more, jwtclaims.Credential, jwtclaims.Tenant, jwtclaims.SessionID, jwtclaims.AuthTime, jwtclaims.StoreID)
	if s.assures() {
		names = append(names, jwtclaims.Proved, jwtclaims.AMR, jwtclaims.ACR)
	}
	return keepClaims(c, names...)
}

// putAssurance writes into claims what the user has proven.
func putAssurance(claims Claims, p directory.Proof) {
	claims[jwtclaims.Proved] = jwtclaims.UnixSeconds(p.At)
	words := make([]any, len(p.AMR)) // as in claims that were decoded
	for i, word := range p.AMR {
		words[i] = word
	}
	claims[jwtclaims.AMR], claims[jwtclaims.ACR] = words, p.ACR
}

// readAssurance reads what a token of ours says of the proofs. A token without
// proved says nothing: amr and acr may be a provider's words.
func readAssurance(a *Assurance, claims Claims) {
	at, ok := claims.Time(jwtclaims.Proved)
	if !ok {
		return
	}
	words, _ := claims[jwtclaims.AMR].([]any)
	a.Proved, a.ACR = at.UTC(), claims.String(jwtclaims.ACR)
	for _, word := range words {
		if text, ok := word.(string); ok {
			a.AMR = append(a.AMR, text)
		}
	}
}

// readMembersAssurance does what readAssurance does, and returns the time of the
// latest proof.
func readMembersAssurance(a *Assurance, members []jsonscan.Member) time.Time {
	at, ok := jwtclaims.Time(members, jwtclaims.Proved)
	if !ok {
		return time.Time{}
	}
	a.Proved = at.UTC()
	if raw, ok := jsonscan.Lookup(members, jwtclaims.ACR); ok {
		a.ACR = memberText(jsonscan.Member{Raw: raw})
	}
	if raw, ok := jsonscan.Lookup(members, jwtclaims.AMR); ok && json.Unmarshal(raw, &a.AMR) != nil {
		a.AMR = nil
	}
	return a.Proved
}
