package main

import (
	"bytes"
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	olderSecret = "0123456789abcdef0123456789abcdef"
	newerSecret = "fedcba9876543210fedcba9876543210"
)

// factorSite is a database in a file, and the environment of its site.
type factorSite struct {
	*testing.T
	env    environment
	store  *sqladapter.Adapter
	grants grantStore // where accounts are; nil: in store
}

func newFactorSite(t *testing.T) *factorSite {
	file := filepath.Join(t.TempDir(), "auth.db")
	s := &factorSite{T: t, env: environment{"DATABASE_URL=sqlite:" + file, "AUTH_URL=https://app.example/auth"}}
	if out, code := s.run("migrate"); code != exitOK {
		t.Fatal(out)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if s.store, err = sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// run returns what the command prints, in both ways, and its exit code.
func (s *factorSite) run(args ...string) (string, int) {
	var out bytes.Buffer
	p := &program{strings.NewReader(""), &out, &out, s.env, time.Now, &http.Client{}}
	code := p.run(s.Context(), args)
	for _, secret := range []string{olderSecret, newerSecret} {
		if strings.Contains(out.String(), secret) {
			s.Errorf("%v prints a secret", args)
		}
	}
	return out.String(), code
}

// says expects an exit code and a part of what is printed.
func (s *factorSite) says(code int, part string, args ...string) {
	s.Helper()
	if out, got := s.run(args...); got != code || !strings.Contains(out, part) {
		s.Errorf("%v: exit code %d, want %d, and it prints %q, not\n%s", args, got, code, part, out)
	}
}

// tells expects a part of what is printed, whatever the exit code.
func (s *factorSite) tells(part string, args ...string) {
	s.Helper()
	if out, _ := s.run(args...); !strings.Contains(out, part) {
		s.Errorf("%v prints %q, not\n%s", args, out, part)
	}
}

func (s *factorSite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// enrol stores a user with an app that is sealed under a secret.
func (s *factorSite) enrol(email, secret string) storage.User {
	u, err := s.store.CreateUser(s.Context(), storage.User{Email: email})
	s.must(err)
	f := storage.Factor{ID: "app of " + u.ID, UserID: u.ID, Kind: storage.FactorTOTP, Created: time.Now()}
	f.Secret, err = factor.NewSealer([]string{secret}).Seal(&f, []byte("12345678901234567890"))
	s.must(err)
	s.must(s.store.Factors().Create(s.Context(), f))
	return u
}

// TestReseal: F-030, the rotation of a secret is finished when nothing is sealed under the
// older one, and the doctor counts what is.
func TestReseal(t *testing.T) {
	s := newFactorSite(t)
	s.says(exitProblem, "", "reseal")
	s.env = append(s.env, "AUTH_SECRET="+olderSecret)
	if out, _ := s.run("doctor"); strings.Contains(out, "factors:") {
		t.Errorf("a site without factors gets a line: %s", out)
	}
	ada := s.enrol("ada@example.com", olderSecret)
	s.enrol("eve@example.com", olderSecret)
	s.says(exitOK, "OK    factors: 2 secrets of authenticator apps, all under AUTH_SECRET\n", "doctor")

	s.env = append(s.env[:2:2], "AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
	s.enrol("mia@example.com", newerSecret)
	s.says(exitOK, "WARN  factors: 2 of 3 secrets of authenticator apps still need AUTH_SECRET. Run `latchkey reseal` before you remove it", "doctor")
	s.says(exitOK, "sealed 2 of 3 secrets anew under AUTH_SECRET_1.", "reseal")
	s.says(exitOK, "sealed 0 of 3 secrets anew", "reseal")
	s.says(exitOK, "OK    factors: 3 secrets", "doctor")

	s.env = append(s.env[:2:2], "AUTH_SECRET="+newerSecret)
	s.says(exitOK, "OK    factors: 3 secrets", "doctor")
	apps, err := s.store.Factors().List(t.Context(), ada.ID)
	s.must(err)
	if secret, isStale, err := factor.NewSealer([]string{newerSecret}).Open(&apps[0]); err != nil || isStale || string(secret) != "12345678901234567890" {
		t.Errorf("the secret became %q, error %v", secret, err)
	}

	s.env = append(s.env[:2:2], "AUTH_SECRET="+olderSecret)
	s.says(exitProblem, "FAIL  factors: 3 of 3 secrets of authenticator apps open with no secret that is set", "doctor")
	s.says(exitProblem, "3 open with no secret of the environment", "reseal")
}

// TestResetFactors: a user without factors keeps nothing that a sign-in with them left, and
// everything of theirs from before is void. Other users keep theirs.
func TestResetFactors(t *testing.T) {
	s := newFactorSite(t)
	ada, eve := s.enrol("ada@example.com", newerSecret), s.enrol("eve@example.com", newerSecret)
	ctx := t.Context()
	for _, u := range []storage.User{ada, eve} {
		s.must(s.store.Factors().ReplaceRecoveryCodes(ctx, u.ID, []string{"h"}))
		s.must(s.store.Browsers().Put(ctx, storage.Browser{ID: "b", UserID: u.ID, PublicID: u.ID, Created: time.Now(), Seen: time.Now(), Expires: time.Now()}))
		s.must(s.store.Challenges().Create(ctx, storage.Challenge{ID: u.ID, UserID: u.ID, Purpose: "signin", Created: time.Now(), Expires: time.Now()}))
		s.must(s.store.CreateSession(ctx, storage.StoredSession{Token: u.ID, UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
	}
	s.says(exitProblem, "there is no such user", "user", "reset-factors", "nobody@example.com")
	s.says(exitProblem, "there is no such user", "user", "reset-factors", "nobody")
	s.says(exitUsage, "", "user", "reset-factors")
	s.says(exitOK, "removed 1 factor and the recovery codes of user "+ada.ID, "user", "reset-factors", "Ada@example.com")
	s.says(exitOK, "removed 0 factors", "user", "reset-factors", ada.ID)
	for u, want := range map[string]int{ada.ID: 0, eve.ID: 1} {
		factors, err := s.store.Factors().List(ctx, u)
		s.must(err)
		browsers, err := s.store.Browsers().List(ctx, u)
		s.must(err)
		challenges, err := s.store.Challenges().List(ctx, storage.ChallengeQuery{UserID: u})
		s.must(err)
		sessions, err := s.store.ListSessions(ctx, u)
		s.must(err)
		if len(factors) != want || len(browsers) != want || len(challenges) != want || len(sessions) != want {
			t.Errorf("%d factors, %d browsers, %d challenges, %d sessions are left, want %d of each", len(factors), len(browsers), len(challenges), len(sessions), want)
		}
		if _, err := s.store.Factors().UseRecoveryCode(ctx, u, "h"); (err == nil) != (want == 1) || err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("UseRecoveryCode: %v", err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.env.get("DATABASE_URL"), "sqlite:"))
	s.must(err)
	defer func() { _ = db.Close() }()
	var ends int
	s.must(db.QueryRow("SELECT count(*) FROM revocations").Scan(&ends))
	if ends != 1 {
		t.Errorf("%d ends of users are on record, want 1", ends)
	}
}

// TestResetFactorsMark: R-656, with the secret of the site a user whose factors were removed
// has to prove the mailbox, at each tenant for itself. Without it the command says that
// the proof is missing.
func TestResetFactorsMark(t *testing.T) {
	s := newFactorSite(t)
	ctx, proven := t.Context(), time.Now()
	ada, eve := s.enrol("ada@example.com", newerSecret), s.enrol("eve@example.com", newerSecret)
	for _, u := range []storage.User{ada, eve} {
		_, err := s.store.UpdateUser(ctx, u.ID, storage.UserChange{EmailVerified: &proven})
		s.must(err)
	}
	mia := s.enrol("mia@example.com", newerSecret)
	s.says(exitOK, "no mail was sent. AUTH_SECRET is not set: the next sign-in sets up a factor without a proof", "user", "reset-factors", ada.ID)
	marks := func(u storage.User, tenant string) int {
		rows, err := s.store.Challenges().List(ctx, storage.ChallengeQuery{UserID: u.ID, Tenant: tenant, Purpose: "cleared"})
		s.must(err)
		return len(rows)
	}
	if marks(ada, "") != 0 {
		t.Error("a mark without a secret")
	}
	s.env = append(s.env, "AUTH_SECRET="+newerSecret)
	s.says(exitOK, "no mail was sent. The next sign-in proves the mailbox before it sets up a factor.", "user", "reset-factors", ada.ID)
	s.says(exitOK, "The next sign-in proves the mailbox", "user", "reset-factors", eve.ID, "--tenant", "blue")
	s.says(exitOK, "no proven address", "user", "reset-factors", mia.ID)
	if marks(ada, "") != 1 || marks(eve, "blue") != 1 || marks(eve, "") != 0 || marks(mia, "") != 0 {
		t.Errorf("R-656 marks: %d, %d, %d, %d", marks(ada, ""), marks(eve, "blue"), marks(eve, ""), marks(mia, ""))
	}
}
