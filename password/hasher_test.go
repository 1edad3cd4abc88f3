package password_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/password"
	"github.com/latchkeyhq/latchkey/storage"
)

// cheap makes tests quick. A site keeps the defaults.
var cheap = password.Params{KiB: 64, Passes: 1, Threads: 1}

func newHasher(t testing.TB, o password.Options) *password.Hasher {
	t.Helper()
	if o.Params == (password.Params{}) {
		o.Params = cheap
	}
	h, err := password.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func hashOf(t testing.TB, h *password.Hasher, typed string) string {
	t.Helper()
	hash, err := h.Hash(t.Context(), typed)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestHashAndCheck(t *testing.T) {
	h := newHasher(t, password.Options{})
	hash := hashOf(t, h, "caf\u00e9 au lait")
	if other := hashOf(t, h, "caf\u00e9 au lait"); hash == other || !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("hashes %s and %s", hash, other)
	}
	for _, row := range []struct {
		name, typed string
		ok          bool
	}{
		{"the same text", "caf\u00e9 au lait", true},
		{"the same text in another normal form", "cafe\u0301 au lait", true},
		{"another space", "caf\u00e9\u00a0au\u2003lait", true},
		{"another case", "Caf\u00e9 au lait", false},
		{"a space more", "caf\u00e9 au lait ", false},
		{"a beginning", "caf\u00e9 au", false},
		{"nothing", "", false},
		{"a control character", "caf\u00e9 au lait\x00", false},
		{"more than a password may have", strings.Repeat("caf\u00e9 au lait", 1000), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := h.Check(t.Context(), hash, row.typed)
			if err != nil || got != (password.Result{OK: row.ok}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestUnknownUsersFitNothing(t *testing.T) {
	h := newHasher(t, password.Options{})
	for _, typed := range []string{"", "password"} {
		if got, err := h.Check(t.Context(), "", typed); err != nil || got != (password.Result{}) {
			t.Errorf("%q: %+v, %v", typed, got, err)
		}
	}
}

func TestHashRefuses(t *testing.T) {
	h := newHasher(t, password.Options{})
	for name, typed := range map[string]string{"nothing": "", "a control character": "tab\there", "1,025 bytes": strings.Repeat("x", 1025)} {
		if hash, err := h.Hash(t.Context(), typed); err == nil {
			t.Errorf("%s: %s", name, hash)
		}
	}
}

func TestStale(t *testing.T) {
	old := newHasher(t, password.Options{Params: password.Params{KiB: 128, Passes: 1, Threads: 1}})
	now := newHasher(t, password.Options{})
	for name, row := range map[string]struct {
		hash  string
		stale bool
	}{
		"the current parameters": {hashOf(t, now, "a good password"), false},
		"other parameters":       {hashOf(t, old, "a good password"), true},
	} {
		if got, err := now.Check(t.Context(), row.hash, "a good password"); err != nil || got != (password.Result{OK: true, Stale: row.stale}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// pepper returns a pepper whose key repeats a byte.
func pepper(id string, b byte) password.Pepper {
	return password.Pepper{ID: id, Key: bytes.Repeat([]byte{b}, 32)}
}

func TestPepperRotates(t *testing.T) {
	none := newHasher(t, password.Options{})
	first := newHasher(t, password.Options{Peppers: []password.Pepper{pepper("1", 'a')}})
	both := newHasher(t, password.Options{Peppers: []password.Pepper{pepper("2", 'b'), pepper("1", 'a')}})
	forged := newHasher(t, password.Options{Peppers: []password.Pepper{pepper("1", 'x')}})
	const typed = "a good password"
	for _, row := range []struct {
		name  string
		maker *password.Hasher
		want  password.Result
	}{
		{"the newest key", both, password.Result{OK: true}},
		{"an older key", first, password.Result{OK: true, Stale: true}},
		{"no key", none, password.Result{OK: true, Stale: true}},
		{"another key of that name", forged, password.Result{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := both.Check(t.Context(), hashOf(t, row.maker, typed), typed); err != nil || got != row.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	_, err := first.Check(t.Context(), hashOf(t, both, typed), typed)
	if err == nil || errors.Is(err, password.ErrHash) || !strings.Contains(err.Error(), `"2"`) {
		t.Errorf("a missing key: %v, want an error that names it and is not ErrHash", err)
	}
}

func TestPepperHidesItsKey(t *testing.T) {
	var log strings.Builder
	p := pepper("1", 'S')
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "pepper", p)
	for _, text := range []string{fmt.Sprint(p), fmt.Sprintf("%v %+v %#v %s", p, p, p, p), fmt.Sprintf("%+v", []password.Pepper{p}), log.String()} {
		if strings.Contains(text, "SSSS") || strings.Contains(text, "83 83") || strings.Contains(text, "0x53") {
			t.Errorf("%s shows the key", text)
		}
	}
}

// TestHostileHashes checks that a hash from a store cannot make the server compute for
// long: it is refused before anything is computed.
func TestHostileHashes(t *testing.T) {
	h := newHasher(t, password.Options{})
	salt, tag := "c2FsdHNhbHRzYWx0c2FsdA", "aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g"
	hex64 := strings.Repeat("ab", 64)
	for name, hash := range map[string]string{
		"no format":                     "hunter2",
		"an unknown PHC name":           "$argon2d$v=19$m=64,t=1,p=1$" + salt + "$" + tag,
		"an old version":                "$argon2id$v=16$m=64,t=1,p=1$" + salt + "$" + tag,
		"4 GiB":                         "$argon2id$v=19$m=4194304,t=1,p=1$" + salt + "$" + tag,
		"2^31 passes":                   "$argon2id$v=19$m=64,t=2147483648,p=1$" + salt + "$" + tag,
		"17 threads":                    "$argon2id$v=19$m=640,t=1,p=17$" + salt + "$" + tag,
		"no memory":                     "$argon2id$v=19$m=0,t=1,p=1$" + salt + "$" + tag,
		"less than 8 KiB a thread":      "$argon2id$v=19$m=8,t=1,p=2$" + salt + "$" + tag,
		"a parameter twice":             "$argon2id$v=19$m=64,m=64,t=1,p=1$" + salt + "$" + tag,
		"an unknown parameter":          "$argon2id$v=19$m=64,t=1,p=1,x=1$" + salt + "$" + tag,
		"a signed number":               "$argon2id$v=19$m=+64,t=1,p=1$" + salt + "$" + tag,
		"an empty salt":                 "$argon2id$v=19$m=64,t=1,p=1$$" + tag,
		"an empty tag":                  "$argon2id$v=19$m=64,t=1,p=1$" + salt + "$",
		"a short tag":                   "$argon2id$v=19$m=64,t=1,p=1$" + salt + "$aGFzaA",
		"a megabyte":                    "$argon2id$v=19$m=64,t=1,p=1$" + salt + "$" + strings.Repeat("A", 1<<20),
		"bcrypt, cost 31":               "$2b$31$" + strings.Repeat("a", 53),
		"bcrypt, cut":                   "$2b$10$" + strings.Repeat("a", 20),
		"PBKDF2, 2^31":                  "pbkdf2_sha256$2147483648$salt$" + tag + "=",
		"PBKDF2, none":                  "pbkdf2_sha256$0$salt$" + tag + "=",
		"PBKDF2 without salt":           "pbkdf2_sha256$1000$$" + tag + "=",
		"PBKDF2 of PHC without i":       "$pbkdf2-sha256$l=32$" + salt + "$" + tag,
		"scrypt, N=2^30":                "scrypt$1073741824$saltsalt$8$1$" + tag,
		"scrypt, N no power of two":     "scrypt$1000$saltsalt$8$1$" + tag,
		"scrypt, r=2^20":                "scrypt$16384$saltsalt$1048576$1$" + tag,
		"scrypt of PHC, ln=63":          "$scrypt$ln=63,r=8,p=1$" + salt + "$" + tag,
		"better-auth with a short key":  "0123456789abcdef:abcd",
		"better-auth, salt of no hex":   "salt:" + hex64,
		"better-auth, an enormous salt": strings.Repeat("ab", 400) + ":" + hex64,
	} {
		got, err := h.Check(t.Context(), hash, "hunter2")
		if !errors.Is(err, password.ErrHash) || !errors.Is(err, errors.ErrUnsupported) || got.OK {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), tag) || len(err.Error()) > 200) {
			t.Errorf("%s: the error repeats the hash: %v", name, err)
		}
	}
}

func TestConfigurationFaults(t *testing.T) {
	verify := func(string, string) (bool, error) { return false, nil }
	for _, row := range []struct {
		name, says string
		o          password.Options
	}{
		{"too much memory", "Params", password.Options{Params: password.Params{KiB: 1 << 30}}},
		{"too little memory for its threads", "Params", password.Options{Params: password.Params{KiB: 8, Threads: 4}}},
		{"a budget below one hash", "Memory", password.Options{Memory: 1 << 20}},
		{"short passwords", "MinLength", password.Options{MinLength: 6}},
		{"a pepper of another length", "Peppers[0]", password.Options{Peppers: []password.Pepper{{ID: "1", Key: []byte("short")}}}},
		{"two peppers of one name", "Peppers[1]", password.Options{Peppers: []password.Pepper{pepper("1", 'a'), pepper("1", 'b')}}},
		{"a check for leaks without a service", "Breached", password.Options{CheckBreached: true}},
		{"a format without a prefix", "Verify", password.Options{Verify: map[string]func(string, string) (bool, error){"": verify}}},
		{"a format without a function", "Verify", password.Options{Verify: map[string]func(string, string) (bool, error){"x": nil}}},
		{"R-695 a prefix that begins with another", `Verify["$md5$x"] begins with Verify["$md5$"]`, password.Options{Verify: map[string]func(string, string) (bool, error){"$md5$x": verify, "$a$": verify, "$md5$": verify}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if h, err := password.New(row.o); h != nil || err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want one about %s", err, row.says)
			}
		})
	}
}

// TestBusy (F-087) fills the budget with checks that block, and counts the answers of others.
func TestBusy(t *testing.T) { synctest.Test(t, testBusy) }

func testBusy(t *testing.T) {
	leave := make(chan bool)
	h := newHasher(t, password.Options{Memory: 64 << 10, Verify: map[string]func(string, string) (bool, error){
		"slow:": func(string, string) (bool, error) { <-leave; return true, nil },
	}})
	errs := make(chan error, 200)
	check := func(ctx context.Context) {
		go func() { _, err := h.Check(ctx, "slow:", "x"); errs <- err }()
	}
	check(t.Context())
	synctest.Wait() // the budget is taken
	gone, cancel := context.WithCancel(t.Context())
	check(gone)
	synctest.Wait()
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone: %v", err)
	}
	refused := func(want int, who string) {
		t.Helper()
		synctest.Wait()
		if len(errs) != want {
			t.Errorf("%d checks of %s were refused, want %d", len(errs), who, want)
		}
		for len(errs) > 0 {
			if err := <-errs; !errors.Is(err, password.ErrBusy) || !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s: %v", who, err)
			}
		}
	}
	for range 100 {
		check(t.Context())
	}
	refused(36, "those beyond 64 that wait")
	time.Sleep(2*time.Second - time.Nanosecond)
	refused(0, "those that have not waited for two seconds")
	time.Sleep(time.Nanosecond)
	refused(64, "those that have waited for two seconds")
	check(t.Context())
	synctest.Wait()
	close(leave)
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// F-087: a check takes the memory that the stored hash needs, not that of a new one.
func TestChecksTakeWhatTheirHashNeeds(t *testing.T) {
	large := hashOf(t, newHasher(t, password.Options{Params: password.Params{KiB: 128, Passes: 1, Threads: 1}}), "a good password")
	entered, leave := make(chan bool), make(chan bool)
	h := newHasher(t, password.Options{Memory: 128 << 10, Verify: map[string]func(string, string) (bool, error){
		"slow:": func(string, string) (bool, error) { entered <- true; <-leave; return true, nil },
	}})
	done := make(chan error)
	go func() { _, err := h.Check(t.Context(), "slow:", "x"); done <- err }()
	<-entered // half of the budget is taken
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got, err := h.Check(soon, large, "a good password"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("F-087 beside another check: %+v, %v", got, err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, err := h.Check(t.Context(), large, "a good password"); err != nil || !got.OK {
		t.Errorf("F-087 alone: %+v, %v", got, err)
	}
}
