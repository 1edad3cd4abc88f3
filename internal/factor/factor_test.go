package factor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	oldSecret = "0123456789abcdef0123456789abcdef"
	newSecret = "fedcba9876543210fedcba9876543210"
)

var now = time.Unix(1_800_000_000, 0)

const (
	totp     = storage.FactorTOTP
	key      = storage.FactorPasskey
	mail     = storage.FactorEmail
	recovery = storage.FactorRecovery
)

var everything = []storage.FactorKind{totp, key, mail, recovery}

// held returns a user with factors of the kinds.
func held(kinds ...storage.FactorKind) *factor.Held {
	h := &factor.Held{HasMail: true}
	for _, kind := range kinds {
		if kind == key {
			h.Passkeys = append(h.Passkeys, storage.Authenticator{UserID: "1"})
			continue
		}
		h.Rows = append(h.Rows, storage.Factor{ID: string(kind), UserID: "1", Kind: kind})
	}
	return h
}

func TestDecide(t *testing.T) {
	pwd, link := []string{"pwd"}, []string{"email"}
	required := factor.Demand{Need: factor.Required}
	type kinds = []storage.FactorKind
	for _, c := range []struct {
		name    string
		q       factor.Question
		want    factor.Outcome
		asked   kinds
		offered kinds
	}{
		{name: "a user without a factor comes in", q: factor.Question{Held: held(), AMR: pwd}, want: factor.Enter},
		{name: "the strongest is asked for first", q: factor.Question{Held: held(mail, totp, key), AMR: pwd}, want: factor.Ask, asked: kinds{key, totp, mail, recovery}},
		{name: "what the site does not offer is no factor", q: factor.Question{Held: held(mail, key), AMR: pwd}, offered: kinds{totp}, want: factor.Enter},
		{name: "F-039 mail does not second mail", q: factor.Question{Held: held(mail, totp), AMR: link}, want: factor.Ask, asked: kinds{totp, recovery}},
		{name: "F-039 mail alone is no second factor after mail", q: factor.Question{Held: held(mail), AMR: link}, want: factor.Enter},
		{name: "mail needs a proven address", q: factor.Question{Held: &factor.Held{Rows: held(mail).Rows}, AMR: pwd}, want: factor.Enter},
		{name: "F-041 a verified passkey is enough", q: factor.Question{Held: held(totp, key), AMR: []string{"hwk", "user"}, ACR: factor.AAL2}, want: factor.Enter},
		{name: "F-041 an unverified passkey is not", q: factor.Question{Held: held(totp, key), AMR: []string{"hwk"}, ACR: factor.AAL1}, want: factor.Ask, asked: kinds{totp, recovery}},
		{name: "F-051 required without a factor means enrolment", q: factor.Question{Held: held(), AMR: pwd, Demand: required}, want: factor.Enrol},
		{name: "F-052 before the end of grace", q: factor.Question{Held: held(), AMR: pwd, Demand: factor.Demand{Need: factor.Required, Until: now.Add(time.Millisecond)}}, want: factor.Remind},
		{name: "F-052 at the end of grace", q: factor.Question{Held: held(), AMR: pwd, Demand: factor.Demand{Need: factor.Required, Until: now}}, want: factor.Enrol},
		{name: "F-052 grace is for users without a factor", q: factor.Question{Held: held(totp), AMR: pwd, Demand: factor.Demand{Need: factor.Required, Until: now.Add(time.Hour)}}, want: factor.Ask, asked: kinds{totp, recovery}},
		{name: "F-053 kinds that nobody offers are refused", q: factor.Question{Held: held(totp), AMR: pwd, Demand: factor.Demand{Kinds: kinds{key}}}, offered: kinds{totp}, want: factor.Refuse},
		{name: "F-054 kinds bind", q: factor.Question{Held: held(totp, key), AMR: pwd, Demand: factor.Demand{Kinds: kinds{key}}}, want: factor.Ask, asked: kinds{key}},
		{name: "F-054 recovery codes only if listed", q: factor.Question{Held: held(totp, key), AMR: pwd, Demand: factor.Demand{Kinds: kinds{key, recovery}}}, want: factor.Ask, asked: kinds{key, recovery}},
		{name: "F-054 another factor is not got around by enrolling", q: factor.Question{Held: held(key), AMR: pwd, Demand: factor.Demand{Need: factor.Required, Kinds: kinds{totp}}}, want: factor.Refuse},
		{name: "F-054 nor by a demand for one that the user lacks", q: factor.Question{Held: held(totp), AMR: pwd, Demand: factor.Demand{Kinds: kinds{key}}}, want: factor.Refuse},
		{name: "F-054 a trusted provider is no passkey", q: factor.Question{Held: held(key), AMR: []string{"fed", "mfa"}, ACR: factor.AAL2, Demand: factor.Demand{Kinds: kinds{key}}}, want: factor.Ask, asked: kinds{key}},
		{name: "none is none", q: factor.Question{Held: held(totp), AMR: pwd, Demand: factor.Demand{Need: factor.None}}, want: factor.Enter},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Offered, c.q.Now = everything, now
			if c.offered != nil {
				c.q.Offered = c.offered
			}
			if got, asked := c.q.Decide(); got != c.want || !slices.Equal(asked, c.asked) {
				t.Errorf("outcome %d, %v; want %d, %v", got, asked, c.want, c.asked)
			}
		})
	}
}

func TestAssurance(t *testing.T) {
	for _, c := range []struct {
		first, then []string
		amr, acr    string
	}{
		{[]string{"pwd"}, nil, "pwd", "aal1"},
		{[]string{"pwd"}, []string{"otp"}, "pwd otp mfa", "aal2"},
		{[]string{"pwd"}, []string{"recovery"}, "pwd recovery mfa", "aal2"},
		{[]string{"pwd"}, []string{"email"}, "pwd email mfa", "aal1"},
		{[]string{"email"}, []string{"hwk"}, "email hwk mfa", "aal2"},
		{[]string{"hwk"}, []string{"email"}, "hwk email mfa", "aal1"},
		{[]string{"fed"}, []string{"otp"}, "fed otp mfa", "aal2"},
		{[]string{"hwk", "user"}, nil, "hwk user", "aal2"},
		{[]string{"swk"}, nil, "swk", "aal1"},
		{[]string{"pwd"}, []string{"browser"}, "pwd browser", "aal1"},
		{[]string{"pwd", "otp", "mfa"}, []string{"otp"}, "pwd otp mfa", "aal2"},
		{[]string{"hwk"}, []string{"hwk", "user"}, "hwk user", "aal2"}, // one factor (RFC 8176, section 2)
		{[]string{"hwk"}, []string{"swk", "user"}, "hwk swk user mfa", "aal2"},
	} {
		amr := factor.Join(c.first, c.then)
		if got := strings.Join(amr, " "); got != c.amr || factor.Level(amr) != c.acr {
			t.Errorf("%v and %v: %q, %s; want %q, %s", c.first, c.then, got, factor.Level(amr), c.amr, c.acr)
		}
	}
	t.Run("F-060 a remembered browser is no factor", func(t *testing.T) {
		if factor.Meets([]string{"pwd", "browser"}, "aal1") || factor.Meets([]string{"pwd", "browser"}, "aal1", totp, key, recovery) {
			t.Error("it meets a demand")
		}
		if !factor.Meets([]string{"pwd", "otp"}, "aal2") || !factor.Meets([]string{"swk", "user"}, "", key) || factor.Meets([]string{"otp"}, "aal2", key) {
			t.Error("kinds do not bind")
		}
	})
}

func TestSealedSecrets(t *testing.T) {
	s := factor.NewSealer([]string{newSecret})
	f := storage.Factor{ID: "f1", UserID: "1", Kind: totp}
	raw := otp.NewSecret()
	var err error
	if f.Secret, err = s.Seal(&f, raw); err != nil {
		t.Fatal(err)
	}
	t.Run("F-028 it opens in its own row", func(t *testing.T) {
		if got, isStale, err := s.Open(&f); string(got) != string(raw) || isStale || err != nil {
			t.Errorf("%x, %t, %v", got, isStale, err)
		}
		if strings.Contains(f.Secret, otp.Text(raw)) {
			t.Error("it can be read")
		}
	})
	for name, change := range map[string]func(*storage.Factor){
		"F-028 not in another user's": func(f *storage.Factor) { f.UserID = "2" },
		"F-028 not in another row":    func(f *storage.Factor) { f.ID = "f2" },
		"F-028 not as another kind":   func(f *storage.Factor) { f.Kind = mail },
		"F-029 not when it is broken": func(f *storage.Factor) { f.Secret += "x" },
		"F-029 not when it is empty":  func(f *storage.Factor) { f.Secret = "" },
	} {
		t.Run(name, func(t *testing.T) {
			moved := f
			change(&moved)
			if _, _, err := s.Open(&moved); !errors.Is(err, factor.ErrUnreadable) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("F-030 an older secret still opens, and is replaced at use", func(t *testing.T) {
		old := factor.NewSealer([]string{oldSecret})
		f := f
		f.Secret, _ = old.Seal(&f, raw)
		both := factor.NewSealer([]string{newSecret, oldSecret})
		hit, err := both.Match([]storage.Factor{f}, otp.Code(raw, otp.Step(now)), now, 1, failAt(t))
		if err != nil || hit == nil || hit.Secret == "" {
			t.Fatalf("%+v, %v", hit, err)
		}
		f.Secret = hit.Secret
		if _, isStale, err := s.Open(&f); err != nil || isStale {
			t.Errorf("with the old secret gone: stale %t, %v", isStale, err)
		}
	})
}

func failAt(t *testing.T) func(storage.Factor, error) {
	return func(f storage.Factor, err error) { t.Errorf("%s: %v", f.ID, err) }
}

func TestMatch(t *testing.T) {
	s := factor.NewSealer([]string{newSecret})
	var apps []storage.Factor
	var secrets [][]byte
	for _, id := range []string{"a", "b"} {
		f := storage.Factor{ID: id, UserID: "1", Kind: totp}
		raw := otp.NewSecret()
		f.Secret, _ = s.Seal(&f, raw)
		apps, secrets = append(apps, f), append(secrets, raw)
	}
	step := otp.Step(now)
	match := func(code string) *factor.Hit {
		hit, err := s.Match(apps, code, now, 1, func(storage.Factor, error) {})
		if err != nil {
			t.Fatal(err)
		}
		return hit
	}
	t.Run("F-033 each app fits", func(t *testing.T) {
		for i, raw := range secrets {
			if hit := match(otp.Code(raw, step)); hit == nil || hit.Factor.ID != apps[i].ID || hit.Step != step {
				t.Errorf("app %d: %+v", i, hit)
			}
		}
	})
	t.Run("F-024 older steps die with newer", func(t *testing.T) {
		apps[0].Step = step
		for back := range int64(2) {
			if hit := match(otp.Code(secrets[0], step-back)); hit != nil {
				t.Errorf("step %d was accepted after %d", step-back, step)
			}
		}
		if match(otp.Code(secrets[0], step+1)) == nil {
			t.Error("the next step is refused")
		}
	})
	t.Run("F-029 an unreadable app fits nothing, others work", func(t *testing.T) {
		apps[0].Secret, apps[0].Step = "x", 0
		if match(otp.Code(secrets[0], step)) != nil || match(otp.Code(secrets[1], step)) == nil {
			t.Error("wrong")
		}
	})
}

func TestRecoveryCodes(t *testing.T) {
	codes := factor.NewRecoveryCodes()
	seen := map[string]bool{}
	for _, code := range codes {
		if len(code) != 29 || strings.Count(code, "-") != 5 || strings.Trim(code, "0123456789ABCDEFGHJKMNPQRSTVWXYZ-") != "" || seen[code] {
			t.Errorf("F-034 %q", code)
		}
		seen[code] = true
		plain := strings.ReplaceAll(code, "-", "")
		for _, typed := range []string{code, plain, strings.ToLower(code), " " + strings.ReplaceAll(code, "-", " "), strings.NewReplacer("0", "o", "1", "l").Replace(code), strings.NewReplacer("0", "O", "1", "I").Replace(plain)} {
			if factor.TypedRecovery(typed) != plain || factor.RecoveryHash("1", typed) != factor.RecoveryHash("1", code) {
				t.Errorf("F-027 %q is not read as %q", typed, code)
			}
		}
		if factor.RecoveryHash("1", code) == factor.RecoveryHash("2", code) {
			t.Error("F-034 the hash is not the user's own")
		}
	}
	if len(codes) != 10 {
		t.Errorf("%d codes", len(codes))
	}
	for _, typed := range []string{"", "ABCD", strings.Repeat("A", 25), strings.Repeat("U", 24), strings.Repeat("A", 10<<10)} {
		if got := factor.TypedRecovery(typed); got != "" {
			t.Errorf("F-027 %.30q is read as %q", typed, got)
		}
	}
}

func FuzzTypedRecovery(f *testing.F) {
	f.Add("ABCD-EFGH-JKMN-PQRS-TVWX-YZ01")
	f.Add("оooo") // a letter of another script
	f.Fuzz(func(t *testing.T, text string) {
		if code := factor.TypedRecovery(text); code != "" && (len(code) != 24 || factor.TypedRecovery(code) != code) {
			t.Errorf("%q: %q", text, code)
		}
	})
}
