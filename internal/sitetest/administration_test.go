package sitetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// TestProvisionedUsers: P-027, P-028, P-029.
func TestProvisionedUsers(t *testing.T) {
	provisioned := func(t *testing.T, s *oauthSite, email string) latchkey.User {
		t.Helper()
		u, err := s.auth.Users().Create(t.Context(), users.NewUser{Name: "Ada", Email: strings.ToUpper(email)})
		if err != nil || u.Email != email || !u.EmailVerified.IsZero() || u.Provisioned.IsZero() || u.Created.IsZero() {
			t.Fatalf("%+v, %v", u, err)
		}
		if _, err := s.auth.Users().Create(t.Context(), users.NewUser{Email: email}); !errors.Is(err, latchkey.ErrConflict) {
			t.Errorf("a taken address: %v", err)
		}
		return u
	}
	for name, strategy := range strategies {
		t.Run("P-027 by a link, "+name, func(t *testing.T) {
			s := newOAuthSite(t, strategy)
			u := provisioned(t, s, adaEmail)
			b := s.newBrowser()
			if a := b.get(b.askForLink(adaEmail)); !a.signsIn() {
				t.Fatalf("to %q", a.location())
			}
			claimed, err := s.store.GetUser(t.Context(), u.ID)
			if err != nil || claimed.EmailVerified.IsZero() || !claimed.Provisioned.IsZero() || onlyUser(t, s) != u.ID {
				t.Errorf("%+v, %v", claimed, err)
			}
		})
		t.Run("P-028 a provider that is not trusted with addresses, "+name, func(t *testing.T) {
			s := newOAuthSite(t, strategy)
			s.mustSignIn(s.newBrowser())
			email := s.store.Contents().Users[0].Email
			if _, err := s.store.DeleteUser(t.Context(), onlyUser(t, s)); err != nil || email == "" {
				t.Fatal(email, err)
			}
			u := provisioned(t, s, email)
			refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
			if now, err := s.store.GetUser(t.Context(), u.ID); err != nil || !reflect.DeepEqual(now, u) {
				t.Errorf("the user became %+v, %v", now, err)
			}
		})
	}
	for name, change := range map[string]func(*latchkey.OAuth){
		"untrusted": func(*latchkey.OAuth) {},
		"vouching":  func(o *latchkey.OAuth) { o.EmailTrust = latchkey.EmailProven },
	} {
		t.Run("P-030 an unproven user of the application, no mark, provider "+name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(change))
			s.mustSignIn(s.newBrowser())
			email := s.store.Contents().Users[0].Email
			if _, err := s.store.DeleteUser(t.Context(), onlyUser(t, s)); err != nil || email == "" {
				t.Fatal(email, err)
			}
			u, err := s.store.CreateUser(t.Context(), storage.User{Name: "Ada", Email: email})
			if err != nil || !u.Provisioned.IsZero() {
				t.Fatal(u, err)
			}
			refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
			if now, err := s.store.GetUser(t.Context(), u.ID); err != nil || !reflect.DeepEqual(now, u) {
				t.Errorf("the user became %+v, %v", now, err)
			}
			b := s.newBrowser() // as at Auth.js, a link to the address is the user's
			if a := b.get(b.askForLink(email)); !a.signsIn() || onlyUser(t, s) != u.ID {
				t.Errorf("the link leads to %q", a.location())
			}
		})
	}
	t.Run("P-029 two claims at once", func(t *testing.T) {
		for range race.Rounds(t) {
			s := newOAuthSite(t, stored)
			u := provisioned(t, s, adaEmail)
			one, two := s.newBrowser(), s.newBrowser()
			links := []string{one.askForLink(adaEmail), two.askForLink(adaEmail)}
			together(2, func(i int) { []*browser{one, two}[i].get(links[i]) })
			if onlyUser(t, s) != u.ID {
				t.Fatal("a second user")
			}
		}
	})
}

// TestFieldsOfUsers: P-031, P-036.
func TestFieldsOfUsers(t *testing.T) {
	s := newOAuthSite(t, stored)
	u, err := s.auth.Users().Create(t.Context(), users.NewUser{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change users.Change
		field  string
	}{
		"P-036 markup is text":                   {users.Change{Name: new("<b>Ada</b>")}, ""},
		"P-036 override of direction":            {users.Change{Name: new("Ada\u202Egnp")}, "Name"},
		"P-036 10,000 characters":                {users.Change{Name: new(strings.Repeat("a", 10_000))}, "Name"},
		"P-036 256 characters":                   {users.Change{Name: new(strings.Repeat("é", 256))}, ""},
		"P-036 NUL":                              {users.Change{Name: new("a\x00")}, "Name"},
		"P-036 only spaces":                      {users.Change{Name: new("  ")}, "Name"},
		"P-036 a script as image":                {users.Change{Image: new("javascript:alert(1)")}, "Image"},
		"P-036 an image of a user":               {users.Change{Image: new("https://u:p@img.example/a.png")}, "Image"},
		"P-036 a metadata address, not fetched":  {users.Change{Image: new("http://169.254.169.254/latest")}, ""},
		"P-036 an image without host":            {users.Change{Image: new("https:///a.png")}, "Image"},
		"P-036 no image":                         {users.Change{Image: new("")}, ""},
		"P-036 a path":                           {users.Change{Image: new("/a.png")}, "Image"},
		"P-036 an image of more than 2048 bytes": {users.Change{Image: new("https://img.example/" + strings.Repeat("a", 2048))}, "Image"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.auth.Users().Update(t.Context(), u.ID, row.change)
			wrong, is := errors.AsType[*users.InputError](err)
			if (err != nil) != (row.field != "") || is && wrong.Field != row.field {
				t.Errorf("%v, want a mistake in %q", err, row.field)
			}
		})
	}
	if n := s.outbound.calls(); n != 0 {
		t.Errorf("P-036 %d requests", n)
	}
	for _, email := range []string{"no address", "a@b@c", "-x@example.com", "a\x00@example.com"} {
		if _, err := s.auth.Users().Create(t.Context(), users.NewUser{Email: email}); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("P-036 the address %q: %v", email, err)
		}
	}
	for _, call := range []reflect.Type{reflect.TypeFor[users.NewUser](), reflect.TypeFor[users.Change]()} {
		for i := range call.NumField() {
			if name := call.Field(i).Name; strings.Contains(name, "Verified") || strings.Contains(name, "Password") || strings.Contains(name, "Factor") {
				t.Errorf("P-031 %v.%s", call, name)
			}
		}
	}
}

// TestUnverify: P-035, the next proof removes what was attached before.
func TestUnverify(t *testing.T) {
	s, b := newSignedInOAuthSite(t, stored)
	id := onlyUser(t, s)
	if _, err := s.store.UpdateUser(t.Context(), id, storage.UserChange{Email: new("grace@example.com"), EmailVerified: new(s.clock.Now())}); err != nil {
		t.Fatal(err)
	}
	u, err := s.auth.Users().Update(t.Context(), id, users.Change{Unverify: true})
	if err != nil || !u.EmailVerified.IsZero() {
		t.Fatal(u.EmailVerified, err)
	}
	s.clock.Advance(time.Minute)
	owner := s.newBrowser()
	if a := owner.get(owner.askForLink("grace@example.com")); !a.signsIn() {
		t.Fatalf("to %q", a.location())
	}
	dead(t, b)
	if n := len(s.store.Contents().Accounts); n != 0 {
		t.Errorf("%d accounts are left", n)
	}
}

// TestEraseReachesChallengesByAddress: P-041, those of a tenant, and more than a store
// lists at a time.
func TestEraseReachesChallengesByAddress(t *testing.T) {
	for _, tenant := range []string{"a", "b"} {
		t.Run("P-041 tenant "+tenant, func(t *testing.T) {
			store, now := memoryadapter.New(memoryadapter.Options{}), time.Now()
			u, err := store.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 1001 {
				if err := store.Challenges().Create(t.Context(), storage.Challenge{ID: fmt.Sprint(i), Purpose: "invitation", Tenant: tenant, Identifier: u.Email, Data: "x", Created: now, Expires: now.Add(time.Hour)}); err != nil {
					t.Fatal(err)
				}
			}
			auth := newTenants(t, latchkey.Tenants{
				Name: func(context.Context, *latchkey.Request) (string, error) { return tenant, nil },
				Config: func(context.Context, string) (*latchkey.Config, error) {
					return &latchkey.Config{
						Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Adapter: store, Providers: someProvider(),
						Invitations: true, Mail: latchkey.Mail{Send: func(context.Context, latchkey.Message) error { return nil }}, Runtime: latchkey.Runtime{Logger: quiet},
					}, nil
				},
			})
			if err := auth.Users().Erase(latchkey.ContextWithTenant(t.Context(), tenant), u.ID); err != nil {
				t.Fatal(err)
			}
			left, err := store.Challenges().List(t.Context(), storage.ChallengeQuery{Tenant: tenant, Identifier: u.Email})
			if err != nil || len(left) != 0 {
				t.Errorf("P-041 %d challenges are left, %v", len(left), err)
			}
		})
	}
}

// TestExportAndErase: P-038, P-041.
func TestExportAndErase(t *testing.T) {
	s := newOAuthSite(t, stored)
	s.mustSignIn(s.newBrowser())
	id := onlyUser(t, s)
	now := s.clock.Now()
	account := s.store.Contents().Accounts[0]
	for what, err := range map[string]error{
		"challenge": s.store.Challenges().Create(t.Context(), storage.Challenge{ID: "canary-id", Purpose: "email", UserID: id, Identifier: "new@example.com", Data: "canary-data", Created: now, Expires: now.Add(time.Hour)}),
		"password":  s.store.Passwords().Set(t.Context(), storage.PasswordHash{UserID: id, Hash: "canary-hash", Created: now, Changed: now}, ""),
		"factor":    s.store.Factors().Create(t.Context(), storage.Factor{ID: "canary-factor", UserID: id, Kind: storage.FactorTOTP, Name: "my phone", Secret: "canary-secret", Created: now}),
		"suspended": s.store.Suspensions().Put(t.Context(), id, storage.Suspension{Since: now, Reason: "spam", By: "canary-admin"}),
		"activity":  s.store.Activities().Append(t.Context(), storage.Activity{ID: "canary-activity", UserID: id, Time: now, Type: "sign_in", ActorKind: "user"}),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	var out bytes.Buffer
	if err := s.auth.Users().Export(t.Context(), id, &out); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version", "exported", "user", "suspension", "accounts", "passkeys", "sessions", "factors", "browsers", "pending", "password", "activity"} {
		if _, has := doc[want]; !has {
			t.Errorf("P-038 the export has no %q", want)
		}
	}
	for _, want := range []string{id, account.ProviderAccountID, "my phone", "spam", "new@example.com"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("P-038 the export has no %q", want)
		}
	}
	if strings.Contains(out.String(), "canary") || strings.Contains(out.String(), s.store.Contents().Sessions[0].Token) {
		t.Errorf("P-038 the export has a secret: %s", out.String())
	}
	if err := s.auth.Users().Erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if left := s.contents(); strings.Contains(left, id) {
		t.Errorf("P-041 %s", left)
	}
	if list, err := s.store.Challenges().List(t.Context(), storage.ChallengeQuery{UserID: id}); err != nil || len(list) != 0 {
		t.Errorf("P-041 %d challenges are left, %v", len(list), err)
	}
	if err := s.auth.Users().Erase(t.Context(), id); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("P-041 a repeated call: %v", err)
	}
	s.mustSignIn(s.newBrowser())
	if onlyUser(t, s) == id {
		t.Error("P-041 the new user has the id of the erased one")
	}
}

// claimedOnRead is a store in which a user signs in for the first time right after the user
// was read.
type claimedOnRead struct {
	*memoryadapter.Adapter
	claim *func(id string)
}

func (s claimedOnRead) GetUser(ctx context.Context, id string) (storage.User, error) {
	u, err := s.Adapter.GetUser(ctx, id)
	if claim := *s.claim; claim != nil {
		*s.claim = nil
		claim(id)
	}
	return u, err
}

// staff changes the address of a user who signs in for the first time meanwhile.
func TestStaffChangesAnAddressDuringTheFirstSignIn(t *testing.T) {
	store := claimedOnRead{memoryadapter.New(memoryadapter.Options{}), new(func(string))}
	s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) { c.Adapter = store })
	s.store = store.Adapter
	u, err := s.auth.Users().Create(t.Context(), users.NewUser{Email: annMail})
	if err != nil {
		t.Fatal(err)
	}
	*store.claim = func(id string) {
		if _, err := s.store.UpdateUser(t.Context(), id, storage.UserChange{EmailVerified: new(s.clock.Now()), Provisioned: new(time.Time{})}); err != nil {
			t.Error(err)
		}
	}
	if err := s.auth.Users().ChangeEmail(t.Context(), u.ID, users.EmailChange{Email: "other@example.com"}); err != nil {
		t.Fatal(err)
	}
	now, err := s.store.GetUser(t.Context(), u.ID)
	if err != nil || now.Email != annMail || now.EmailVerified.IsZero() {
		t.Errorf("%+v, %v", now, err)
	}
	if m := s.lastMail(latchkey.MessageNewEmail); m.To != "other@example.com" {
		t.Errorf("the link goes to %q", m.To)
	}
}
