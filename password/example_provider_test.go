package password_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/password"
)

// A site with passwords: sign-up, sign-in, and a link in a mail for those who forget.
func ExampleProvider() {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{password.Provider(latchkey.Password{}, password.Options{})},
		Mail:      latchkey.Mail{From: "App <hello@app.example>", Send: func(_ context.Context, m latchkey.Message) error { return nil }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest("GET", "/auth/signin", nil))
	fmt.Println(w.Code, strings.Contains(w.Body.String(), "Create account"), strings.Contains(w.Body.String(), "Forgot your password?"))
	// Output: 200 true true
}

// A company makes the accounts itself, and its own service hashes.
func ExampleProvider_closed() {
	var hasher latchkey.PasswordHasher = remote{}
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{password.Provider(latchkey.Password{
			Hasher: hasher, SignUp: latchkey.SignUpClosed, LinkMaxAge: 15 * time.Minute,
		}, password.Options{MinLength: 15, Words: []string{"Acme"}})},
		Mail: latchkey.Mail{Send: func(_ context.Context, m latchkey.Message) error { return nil }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest("GET", "/auth/signin", nil))
	fmt.Println(w.Code, strings.Contains(w.Body.String(), "Create account"))
	// Output: 200 false
}

// remote stands for a service that hashes.
type remote struct{}

func (remote) Hash(context.Context, string) (string, error) {
	return "", fmt.Errorf("not in an example")
}

func (remote) Check(context.Context, string, string) (latchkey.PasswordCheck, error) {
	return latchkey.PasswordCheck{}, nil
}
