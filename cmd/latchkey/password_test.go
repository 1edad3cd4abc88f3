package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

const (
	devisesHash = "$2a$04$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
	djangosHash = "pbkdf2_sha256$1000$aSaltOfText$jBLZLQ3yyfmPPbUkUeZTI4S8Ag/AYEZLuYPlmzlXI7A="
)

// imports runs the command with a file.
func (s *factorSite) imports(code int, file string, args ...string) string {
	s.Helper()
	name := filepath.Join(s.TempDir(), "users")
	s.must(os.WriteFile(name, []byte(file), 0o600))
	out, got := s.run(append([]string{"password", "import", name}, args...)...)
	if got != code {
		s.Errorf("exit code %d, want %d: %s", got, code, out)
	}
	for _, hash := range []string{devisesHash, djangosHash, "md5$secret"} {
		if strings.Contains(out, hash) {
			s.Errorf("a hash is printed: %s", out)
		}
	}
	return out
}

func (s *factorSite) hashOf(email string) (storage.User, string) {
	s.Helper()
	u, err := s.store.GetUserByEmail(s.Context(), email)
	s.must(err)
	p, err := s.store.Passwords().Get(s.Context(), u.ID)
	if !errors.Is(err, storage.ErrNotFound) {
		s.must(err)
	}
	return u, p.Hash
}

// TestImportPasswords is R-698, too: a line that repeats an address of the file is not
// counted as a user who was in the database.
func TestImportPasswords(t *testing.T) {
	s := newFactorSite(t)
	known, err := s.store.CreateUser(t.Context(), storage.User{Email: "known@example.com"})
	s.must(err)
	file := "email,hash,email_verified,name,other\n" +
		"Ada@Example.com," + devisesHash + ",true,\"Lovelace, Ada\",x\n" +
		"bob@example.com," + djangosHash + ",2020-01-02T03:04:05Z,Bob,x\n" +
		"known@example.com," + devisesHash + ",true,Eve,x\n" +
		"ada@example.com," + djangosHash + ",true,Twice,x\n" +
		"none@example.com,,false,None,x\n" +
		"nobody," + devisesHash + ",true,x,x\n" +
		"md5@example.com,md5$secret,true,x,x\n" +
		"too,few\n"
	t.Run("a dry run says what would be, and writes nothing", func(t *testing.T) {
		out := s.imports(exitProblem, file)
		for _, part := range []string{"would import 3 users: 1 without a password, 1 bcrypt, 1 django pbkdf2_sha256. 1 was there already. Left out 1 line with", "add --write", "line 5: left out, since line 2 has this address", "line 7: no e-mail address", "line 8: ", "line 9: ", "3 lines cannot be imported"} {
			if !strings.Contains(out, part) {
				t.Errorf("%q is missing in %s", part, out)
			}
		}
		if _, err := s.store.GetUserByEmail(t.Context(), "bob@example.com"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a dry run writes: %v", err)
		}
	})
	t.Run("with --write users are there, and those of before are left alone", func(t *testing.T) {
		if out := s.imports(exitProblem, file, "--write"); !strings.Contains(out, "imported 3 users: ") {
			t.Error(out)
		}
		if u, hash := s.hashOf("ada@example.com"); hash != devisesHash || u.Name != "Lovelace, Ada" || u.EmailVerified.IsZero() {
			t.Errorf("%+v, %s", u, hash)
		}
		if u, hash := s.hashOf("bob@example.com"); hash != djangosHash || !u.EmailVerified.Equal(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)) {
			t.Errorf("%+v, %s", u, hash)
		}
		if u, hash := s.hashOf("none@example.com"); hash != "" || !u.EmailVerified.IsZero() {
			t.Errorf("%+v, %s", u, hash)
		}
		if u, hash := s.hashOf("known@example.com"); hash != "" || u.ID != known.ID || u.Name != "" {
			t.Errorf("a user of before was changed: %+v, %s", u, hash)
		}
		if out := s.imports(exitProblem, file, "--write"); !strings.Contains(out, "imported 0 users. 4 were there already. Left out 1 line with") {
			t.Errorf("again: %s", out)
		}
	})
	t.Run("lines of JSON", func(t *testing.T) {
		out := s.imports(exitProblem, `{"email":"eve@example.com","hash":"`+devisesHash+`","email_verified":true}`+"\n\n"+`{"email":7}`+"\n", "--write")
		if u, hash := s.hashOf("eve@example.com"); hash != devisesHash || u.EmailVerified.IsZero() || !strings.Contains(out, "line 3: no JSON object") {
			t.Errorf("%+v, %s", u, out)
		}
	})
	t.Run("files that are none", func(t *testing.T) {
		for name, file := range map[string]string{"empty": "", "no column": "name,hash\nx,y\n"} {
			if out := s.imports(exitProblem, file); strings.Contains(out, "import 0 users") {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
}

// TestImportWithAByteOrderMark: editors put one in front of CSV and of JSON lines.
func TestImportWithAByteOrderMark(t *testing.T) {
	for name, file := range map[string]string{
		"CSV": "email,hash\nada@example.com,x\n", "JSON lines": `{"email":"ada@example.com","hash":"x"}` + "\n",
	} {
		for _, mark := range []string{"", byteOrderMark} {
			var emails []string
			err := eachImported(strings.NewReader(mark+file), func(_ int, u *importedUser, err error) error {
				if err == nil {
					emails = append(emails, u.Email)
				}
				return err
			})
			if err != nil || len(emails) != 1 || emails[0] != "ada@example.com" {
				t.Errorf("%s: %q, error %v", name, emails, err)
			}
		}
	}
}

// FuzzImport reads files of strangers: no panic, and no word of a line in an error.
func FuzzImport(f *testing.F) {
	f.Add("email,hash\nada@example.com,$2a$04$x\n")
	f.Add("{\"email\":\"ada@example.com\"}\n")
	f.Add("email\n\"")
	f.Fuzz(func(t *testing.T, file string) {
		_ = eachImported(strings.NewReader(file), func(line int, u *importedUser, err error) error {
			if line < 1 || err == nil && u == nil {
				t.Errorf("line %d: %v, %v", line, u, err)
			}
			if err == nil {
				_, _ = u.check()
				_ = u.verified(time.Now())
			}
			return nil
		})
	})
}
