package sitetest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// listing is a store without transactions that can end all sessions of a user.
type listing struct {
	noTx
	storage.SessionListAdapter
}

// newHalfDone is an intruder at a site whose store has no transactions.
func newHalfDone(t *testing.T) (*intruder, *faultyStore) {
	t.Helper()
	store := newFaultyStore()
	i := newIntruder(t, addLinkingProvider, func(c *latchkey.Config) { c.Adapter = listing{noTx{store, store, store, store, store.inner}, store} })
	i.store = store.inner
	i.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: adaEmail, EmailVerified: false})
	return i, store
}

// hangUp is a sign-in of the intruder whose client leaves after a call.
func (i *intruder) hangUp(store *faultyStore, method string) {
	i.t.Helper()
	params := i.authResponse(i.browser, "second")
	ctx, leave := context.WithCancel(i.t.Context())
	store.afterwards(method, leave)
	r := i.browser.request(http.MethodGet, "/auth/callback/second?"+params.Encode(), "", "").WithContext(ctx)
	refused(i.t, i.browser.serve(i.auth, r))
}

func TestHalfDoneIntruders(t *testing.T) {
	for name, intrude := range map[string]func(t *testing.T, i *intruder, store *faultyStore){
		"the store fails": func(t *testing.T, i *intruder, store *faultyStore) {
			store.fail("LinkAccount", faultBefore)
			refused(t, i.browser.callback("second", i.authResponse(i.browser, "second")))
			store.mend()
		},
		"the client leaves before it is linked": func(_ *testing.T, i *intruder, store *faultyStore) {
			i.hangUp(store, "CreateUser")
		},
		"the client leaves when it is linked": func(t *testing.T, i *intruder, store *faultyStore) {
			i.hangUp(store, "LinkAccount")
			if n := len(store.inner.Contents().Accounts); n != 1 {
				t.Errorf("%d accounts", n)
			}
		},
		"the client leaves when it is linked, and comes again": func(_ *testing.T, i *intruder, store *faultyStore) {
			i.hangUp(store, "LinkAccount")
			i.signInAs("second", adaEmail, false)
		},
	} {
		for how, prove := range proofs {
			t.Run("R-341 a sign-up left half done: "+name+", "+how, func(t *testing.T) {
				i, store := newHalfDone(t)
				intrude(t, i, store)
				i.isOut(prove(t, i))
			})
		}
	}
	t.Run("R-341 a half-done user whose e-mail address has changed", func(t *testing.T) {
		i, store := newHalfDone(t)
		i.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: "mallory@evil.example", EmailVerified: false})
		i.hangUp(store, "CreateUser")
		i.changeEmail()
		i.signInAs("second", "mallory@evil.example", false)
		if now := i.browser.session(); !strings.Contains(now, "mallory@evil.example") {
			t.Errorf("signed in as %s", now)
		}
		if c := store.inner.Contents(); len(c.Users) != 2 || len(c.Accounts) != 1 {
			t.Errorf("%d users, %d accounts", len(c.Users), len(c.Accounts))
		}
	})
	for _, method := range []string{"CreateUser", "GetUser"} {
		t.Run("R-341 the e-mail address is proven before the account is linked: "+method, func(t *testing.T) {
			i, store := newHalfDone(t)
			if method == "GetUser" { // of the sign-up that was left before
				i.hangUp(store, "CreateUser")
			}
			params := i.authResponse(i.browser, "second")
			var owner *browser
			store.afterwards(method, func() { owner = i.openLink(t) })
			refused(t, i.browser.callback("second", params), "OAuthAccountNotLinked")
			i.isOut(owner)
		})
	}
	for _, method := range []string{"GetUserByEmail", "ListAccounts"} { // before the user is looked at again, and after
		t.Run("R-341 a proof is not of the e-mail address that comes in its place: "+method, func(t *testing.T) {
			i, store := newHalfDone(t)
			mallory := i.addUser(latchkey.User{ID: "m1", Email: "mallory@evil.example"})
			link := i.browser.askForLink("mallory@evil.example")
			store.afterwards(method, func() {
				if _, err := i.store.UpdateUser(t.Context(), mallory.ID, storage.UserChange{Email: new(adaEmail)}); err != nil {
					t.Error(err)
				}
			})
			i.browser.get(link)
			for _, u := range i.store.Contents().Users {
				if u.Email == adaEmail && !u.EmailVerified.IsZero() {
					t.Error("the victim's e-mail address is proven")
				}
			}
		})
	}
	t.Run("R-341 an account that is linked between eviction and proof", func(t *testing.T) {
		i, store := newHalfDone(t)
		i.signInAs("second", adaEmail, false)
		store.afterwards("DeleteSessions", func() {
			u := i.store.Contents().Users[0]
			i.link(latchkey.Account{UserID: u.ID, Provider: "issuer", ProviderAccountID: "mallory", Type: latchkey.TypeOIDC})
		})
		i.isOut(i.openLink(t))
	})
}

func TestUnlinkDuringEviction(t *testing.T) {
	t.Run("R-341 the last account does not come back", func(t *testing.T) {
		i, store := newHalfDone(t)
		i.signInAs("second", adaEmail, nil)
		i.signInAs("issuer", "mallory@evil.example", true)
		id := i.store.Contents().Users[0].ID
		evicting, unlinked := make(chan struct{}), make(chan struct{})
		var owner *browser
		var proof sync.WaitGroup
		store.afterwards("UnlinkAccount", func() {
			store.afterwards("UnlinkAccount", func() { close(evicting); <-unlinked })
			proof.Go(func() { owner = i.openLink(t) })
			<-evicting
		})
		if err := i.auth.Users().Unlink(t.Context(), latchkey.AccountRef{UserID: id, Provider: "second", ProviderAccountID: "mallory"}); err == nil {
			t.Error("the last account was unlinked")
		}
		close(unlinked)
		proof.Wait()
		i.isOut(owner)
	})
	t.Run("R-341 nor when the proof is complete before it would", func(t *testing.T) {
		i, store := newHalfDone(t)
		i.signInAs("second", adaEmail, nil)
		i.signInAs("issuer", "mallory@evil.example", true)
		id := i.store.Contents().Users[0].ID
		var owner *browser
		store.afterwards("UnlinkAccount", func() { owner = i.openLink(t) })
		if err := i.auth.Users().Unlink(t.Context(), latchkey.AccountRef{UserID: id, Provider: "second", ProviderAccountID: "mallory"}); err != nil {
			t.Error(err)
		}
		i.isOut(owner)
	})
}
