package latchkey_test

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// passwords stands for a table of yours, by the name that is typed.
type passwords struct {
	store  storage.Adapter
	mu     sync.Mutex
	byName map[string]password
}

type password struct {
	userID     string
	salt, hash []byte
}

// signUp makes the user and keeps the password, which it hashes: the library
// does neither. A name that is taken is latchkey.ErrConflict.
func (p *passwords) signUp(ctx context.Context, name, typed string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, taken := p.byName[name]; taken {
		return latchkey.ErrConflict
	}
	salt := []byte(rand.Text())
	hash, err := hashOf(typed, salt)
	if err != nil {
		return err
	}
	u, err := p.store.CreateUser(ctx, latchkey.User{Name: name}) // takes a User, and returns it as stored: with its id
	if err != nil {
		return err
	}
	p.byName[name] = password{u.ID, salt, hash}
	return nil
}

// authorize is for Credentials.Authorize: it returns the stored user.
func (p *passwords) authorize(ctx context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	p.mu.Lock()
	kept := p.byName[typed["name"]]
	p.mu.Unlock()
	hash, err := hashOf(typed["password"], kept.salt) // also where nobody has the name: it takes as long
	if err != nil {
		return latchkey.User{}, err
	}
	if kept.userID == "" || subtle.ConstantTimeCompare(hash, kept.hash) != 1 {
		return latchkey.User{}, latchkey.ErrCredentialsSignin // the form is shown again
	}
	return p.store.GetUser(ctx, kept.userID) // ErrNotFound refuses too
}

func hashOf(typed string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, typed, salt, 600_000, 32)
}

func (p *passwords) config(send func(context.Context, latchkey.Message) error) latchkey.Config {
	return latchkey.Config{
		Adapter: p.store, // and so sessions are stored
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				Fields:    []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
				Authorize: p.authorize,
			},
			&latchkey.Email{Send: send},
		},
	}
}

// Passwords, and sessions that are rows: Authorize returns a user whom the
// Adapter has, and another way in stands beside it. docs/users.md shows passwords.
func ExampleCredentials() {
	ctx, store := context.Background(), memoryadapter.New(memoryadapter.Options{})
	known := &passwords{store: store, byName: map[string]password{}}
	c := known.config(func(context.Context, latchkey.Message) error { return nil })
	c.Site.URL, c.Secrets, c.Runtime.Logger = "https://app.example", []string{"the output of openssl rand -base64 33"}, quiet
	auth, err := latchkey.New(c)
	must(err)
	must(known.signUp(ctx, "ada", "lovelace"))
	fmt.Println(errors.Is(known.signUp(ctx, "ada", "another"), latchkey.ErrConflict))

	for _, typed := range []string{"byron", "lovelace"} {
		form := url.Values{"name": {"ada"}, "password": {typed}}
		answer, asked := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/log-in", nil)
		err := auth.SignIn(answer, asked, "credentials", latchkey.SignInOptions{Form: form, RedirectTo: "/"})
		fmt.Println(answer.Code, errors.Is(err, latchkey.ErrCredentialsSignin))
	}
	u, err := store.GetUser(ctx, known.byName["ada"].userID)
	must(err)
	devices, err := auth.Users().Sessions(ctx, u.ID)
	fmt.Println(u.Name, len(devices), devices[0].Provider, err)

	must(auth.Users().Delete(ctx, u.ID))
	_, err = known.authorize(ctx, map[string]string{"name": "ada", "password": "lovelace"}, nil)
	fmt.Println(errors.Is(err, latchkey.ErrNotFound))
	// Output:
	// true
	// 200 true
	// 302 false
	// ada 1 credentials <nil>
	// true
}
