package webauthn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// answer is the limit of what a token endpoint answers.
const answer = 1 << 20

// longest are the maximums of what is stored, in bytes, by record and field. 0: the
// field stays empty.
var longest = map[string]int{
	"User.ID": 36, "User.Name": 512, "User.Email": 254, "User.Image": 66 << 10, "User.Extra": 0,

	"Account.ID": 36, "Account.UserID": 36, "Account.Provider": 64, "Account.ProviderAccountID": 1364, "Account.Type": 11,
	"Account.Email": 254, "Account.Extra": 0,
	"Account.Tokens.AccessToken": answer, "Account.Tokens.RefreshToken": answer, "Account.Tokens.IDToken": 16 << 10, "Account.Tokens.TokenType": answer,
	"Account.Tokens.Scope": answer, "Account.Tokens.SessionState": answer, "Account.Tokens.AuthorizationDetails": answer, "Account.Tokens.Extra": answer,

	"StoredSession.ID": 36, "StoredSession.Token": 64, "StoredSession.UserID": 36, "StoredSession.UserAgent": 256,
	"StoredSession.Tenant": 0, "StoredSession.Provider": 64, "StoredSession.ProviderSID": 0, "StoredSession.ProviderSub": 0,
	"StoredSession.Actor": 0, "StoredSession.ActorSession": 0, // set where an administrator acts, with ids
	"StoredSession.Sealed": 0, "StoredSession.AMR": 0, "StoredSession.ACR": 0,

	"VerificationToken.Identifier": 254, "VerificationToken.Token": 64, "VerificationToken.Purpose": 32,

	"Authenticator.CredentialID": 1023, "Authenticator.UserID": 36, "Authenticator.ProviderAccountID": 1364, "Authenticator.PublicKey": 600,
	"Authenticator.DeviceType": 12, "Authenticator.Transports": 8 * 32, "Authenticator.Name": 64, "Authenticator.AAGUID": 36, "Authenticator.UserHandle": 32,
}

// measure calls f with each field of a record that can be of any length, and its
// length in bytes.
func measure(path string, v reflect.Value, f func(path string, n int)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		path := path + "." + field.Name
		switch field.Type.Kind() {
		case reflect.String:
			f(path, v.Field(i).Len())
		case reflect.Slice, reflect.Map:
			f(path, sizeOf(v.Field(i)))
		case reflect.Struct:
			if field.IsExported() && field.Type != reflect.TypeFor[time.Time]() {
				measure(path, v.Field(i), f)
			}
		}
	}
}

func sizeOf(v reflect.Value) (n int) {
	switch {
	case v.Len() == 0:
		return 0
	case v.Type().Elem().Kind() == reflect.Uint8:
		return v.Len()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			n += v.Index(i).Len()
		}
		return n
	}
	return len(must(json.Marshal(v.Interface())))
}

// TestStoredFields: R-523. An unauthenticated client that sends everything as long as
// it can, by every route, has nothing stored beyond the maximum of its field. A field
// without a maximum fails the test. Before, it found public keys and the names and
// pictures of profiles.
func TestStoredFields(t *testing.T) {
	s, mails := newLongSite(t)
	for _, long := range []int{100, 254, 1 << 10, 8 << 10, 60 << 10} {
		s.signsUpByPasskey(t, long)
		s.signsInByMail(t, long, mails)
		s.signsInByProvider(t, long)
	}
	c, seen := reflect.ValueOf(s.store.Contents()), map[string]int{}
	for i := range c.NumField() {
		for j := range c.Field(i).Len() {
			record := c.Field(i).Index(j)
			measure(record.Type().Name(), record, func(path string, n int) {
				if most, known := longest[path]; known && n > most {
					t.Errorf("R-523 %s has %d bytes, want at most %d", path, n, most)
				}
				seen[path] = max(seen[path], n)
			})
		}
	}
	for _, record := range []any{storage.User{}, storage.Account{}, storage.StoredSession{}, storage.VerificationToken{}, storage.Authenticator{}} {
		v := reflect.ValueOf(record)
		measure(v.Type().Name(), v, func(path string, _ int) {
			if _, known := longest[path]; !known {
				t.Errorf("R-523 %s has no maximum: write it down, and have it kept", path)
			}
			if _, met := seen[path]; !met {
				t.Errorf("R-523 no %s was stored", v.Type().Name())
			}
		})
	}
	for _, path := range []string{"User.Name", "User.Image", "StoredSession.UserAgent", "Authenticator.CredentialID", "Authenticator.PublicKey"} {
		if seen[path] < min(longest[path]/16, 1000) {
			t.Errorf("%s has at most %d bytes: the client did not try", path, seen[path])
		}
	}
}

// newLongSite has every kind of provider, and sessions that are stored.
func newLongSite(t *testing.T) (*longSite, *latchkeytest.Mailbox) {
	t.Helper()
	mails, issuer := &latchkeytest.Mailbox{}, latchkeytest.NewIssuer(t)
	s := &longSite{issuer: issuer, agent: new(string)}
	s.site = newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Session.Strategy = latchkey.DatabaseSessions
		c.Providers = append(c.Providers, issuer.Provider(), &latchkey.Email{Send: mails.Send})
	})
	s.site.url = latchkeytest.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("User-Agent", *s.agent)
		s.auth.ServeHTTP(w, r)
	})).URL
	return s, mails
}

type longSite struct {
	*site
	issuer *latchkeytest.Issuer
	agent  *string
}

// visitor is a browser that says a lot of itself.
func (s *longSite) visitor(long int) *latchkeytest.Client {
	*s.agent = strings.Repeat("Mozilla ", long/8)
	b, _ := s.visit()
	return b
}

func (s *longSite) signsUpByPasskey(t *testing.T, long int) {
	t.Helper()
	b := s.visitor(long)
	a := latchkeytest.NewAuthenticator(s.url)
	a.Transports = []string{"internal", strings.Repeat("x", min(long, 32)), strings.Repeat("y", long)}
	for i := range 20 {
		a.Transports = append(a.Transports, "transport-"+strings.Repeat("z", i))
	}
	a.Misbehave(bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
		if d.PublicKey != nil {
			d.CredentialID = bytes.Repeat([]byte{byte(long % 251)}, long)
			d.PublicKey = map[int]any{1: 3, 3: -257, -1: bytes.Repeat([]byte{0xff}, min(2*long+56, 512)), -2: []byte{1, 0, 1}}
			if long > 1<<10 {
				d.PublicKey[-9], d.CredentialID = make([]byte, long), d.CredentialID[:20]
			}
		}
	}})
	address := "@" + strings.Repeat("b.", min(long, 180)/2) + "example"
	b.Get("/auth/webauthn-options/passkey?action=register&email=" + strings.Repeat("a", long) + address)
	b.TryRegisterPasskey(a, strings.Repeat("a", 60)+strconv.Itoa(long%251)+address)
}

func (s *longSite) signsInByMail(t *testing.T, long int, mails *latchkeytest.Mailbox) {
	t.Helper()
	b := s.visitor(long)
	address := strings.Repeat("a", 64) + "@" + strings.Repeat("b.", min(long, 180)/2) + "example"
	b.SignInByEmail(address, mails)
	b.SignOut()
	for _, address := range []string{address, strings.Repeat("a", long) + "@example.com"} {
		b.Post("/auth/signin/email", url.Values{"email": {address}, "csrfToken": {b.CSRFToken()}})
	}
}

func (s *longSite) signsInByProvider(t *testing.T, long int) {
	t.Helper()
	b := s.visitor(long)
	s.issuer.SignInAs(latchkeytest.Person{
		Subject: strings.Repeat("s", min(long, 255)), Name: strings.Repeat("n", min(long, 4<<10)), Email: fmt.Sprintf("p%d@example.com", long),
		Claims: map[string]any{"picture": "https://example.com/" + strings.Repeat("p", min(long, 4<<10))},
	})
	b.TrySignIn(s.issuer)
	if long > 1<<10 && len(s.store.Contents().Sessions) == 0 {
		t.Error("nobody was signed in")
	}
}
