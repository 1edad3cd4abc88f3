package jwt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	secret = "a secret of more than 32 characters!"
	salt   = "authjs.session-token"
	object = `{"sub":"alice-id","iat":1800000000,"exp":1802592000}`
)

func seal(tb testing.TB, c *jwt.Codec, payload string) string {
	tb.Helper()
	token, err := c.Seal([]byte(payload))
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

func mustOpen(tb testing.TB, c *jwt.Codec, token, want string) {
	tb.Helper()
	if got, err := c.Open(token); err != nil || string(got) != want {
		tb.Errorf("Open = %q, %v, want %q", got, err, want)
	}
}

func mustRefuse(tb testing.TB, c *jwt.Codec, token string) {
	tb.Helper()
	if got, err := c.Open(token); !errors.Is(err, jwt.ErrInvalid) || err.Error() != jwt.ErrInvalid.Error() || got != nil {
		tb.Errorf("Open(%.200q) = %q, %v, want ErrInvalid", token, got, err)
	}
}

func TestSealOpen(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	for size := range 70 { // every length of padding, several blocks
		payload := strings.Repeat("x", size)
		mustOpen(t, c, seal(t, c, payload), payload)
	}
	if first, second := seal(t, c, object), seal(t, c, object); first == second {
		t.Error("two tokens of one payload are equal: the IV is not random")
	}
}

func TestSealLeavesThePayloadAlone(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	payload := append(make([]byte, 0, 1024), object...)
	if _, err := c.Seal(payload); err != nil {
		t.Fatal(err)
	}
	if string(payload) != object || !bytes.Equal(payload[len(object):cap(payload)], make([]byte, 1024-len(object))) {
		t.Error("Seal wrote into its input")
	}
}

func TestOpenedPayloadsAreIndependent(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	token := seal(t, c, object)
	first, err := c.Open(token)
	if err != nil {
		t.Fatal(err)
	}
	clear(first)
	mustOpen(t, c, token, object)
}

func TestAppendOpen(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	token := seal(t, c, object)
	for _, room := range []int{0, 3, 1024} { // none, too little, more than enough
		dst := append(make([]byte, 0, len("before")+room), "before"...)
		got, err := c.AppendOpen(dst, token)
		if want := "before" + object; err != nil || string(got) != want {
			t.Errorf("AppendOpen = %q, %v, want %q", got, err, want)
		}
		got, err = c.AppendOpen(got, token[:len(token)-1])
		if want := "before" + object; !errors.Is(err, jwt.ErrInvalid) || string(got) != want {
			t.Errorf("AppendOpen of half a token = %q, %v, want %q", got, err, want)
		}
	}
}

func TestCodecIsSafeForConcurrentUse(t *testing.T) {
	c := jwt.NewCodec([]string{secret, "an older secret"}, salt)
	older := seal(t, jwt.NewCodec([]string{"an older secret"}, salt), "older")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			payload := strings.Repeat("x", n*100)
			for range 50 {
				mustOpen(t, c, seal(t, c, payload), payload)
				mustOpen(t, c, older, "older")
			}
		})
	}
	all.Wait()
}

func TestAnyChangeKillsAToken(t *testing.T) {
	c := jwt.NewCodec([]string{secret, "an older secret"}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	for name, token := range map[string]string{
		"A256CBC-HS512": seal(t, c, object),
		"A256GCM":       f.gcm(`{"alg":"dir","enc":"A256GCM","kid":"`+f.kid(32)+`"}`, object, 32),
		"no kid":        f.cbc(`{"alg":"dir","enc":"A256CBC-HS512"}`, object),
	} {
		t.Run("R-080 flip every bit of "+name, func(t *testing.T) {
			mustOpen(t, c, token, object)
			for i := range len(token) {
				for bit := range 8 {
					changed := []byte(token)
					changed[i] ^= 1 << bit
					mustRefuse(t, c, string(changed))
				}
			}
		})
		t.Run("R-080 cut or lengthen "+name, func(t *testing.T) {
			for i := range len(token) {
				mustRefuse(t, c, token[:i])
				mustRefuse(t, c, token[:i]+"A"+token[i:])
				mustRefuse(t, c, token[:i]+"\n"+token[i:])
				mustRefuse(t, c, token[:i]+token[i+1:])
			}
			mustRefuse(t, c, token+".")
			mustRefuse(t, c, token+"=")
			mustRefuse(t, c, token+" ")
			mustRefuse(t, c, token+"\x00")
		})
	}
	t.Run("R-080 line breaks in place of zeros", func(t *testing.T) { // which decoders skip
		f := forger{tb: t, secret: secret, salt: salt, fixed: true}
		token := f.cbc(f.header(), object)
		mustOpen(t, c, token, object)
		for i := range 5 {
			p := strings.Split(token, ".")
			if len(p[i]) > 4 {
				p[i] = p[i][:len(p[i])-4] + "\n\n\n\n"
				mustRefuse(t, c, strings.Join(p, "."))
			}
		}
	})
	t.Run("R-080 swap parts of two tokens", func(t *testing.T) {
		a, b := strings.Split(seal(t, c, object), "."), strings.Split(seal(t, c, "{}"), ".")
		for i := 2; i < 5; i++ {
			mixed := append([]string(nil), a...)
			mixed[i] = b[i]
			mustRefuse(t, c, strings.Join(mixed, "."))
		}
	})
}

func TestOnlyTwoAlgorithms(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	kid := f.kid(64)
	for _, tt := range []struct {
		policy string
		header string
		ok     bool
	}{
		{"our own header", f.header(), true},
		{"other order and space", ` { "kid":"` + kid + `", "enc":"A256CBC-HS512" ,"alg":"dir"} `, true},
		{"escapes in names and values", `{"\u0061lg":"d\u0069r","enc":"A256CBC-HS512"}`, true},
		{"members that mean nothing to us", `{"alg":"dir","enc":"A256CBC-HS512","typ":"JWT","cty":null,"p2c":1e9}`, true},
		{"R-090 without kid", `{"alg":"dir","enc":"A256CBC-HS512"}`, true},
		{"R-081 alg PBES2", `{"alg":"PBES2-HS512+A256KW","enc":"A256CBC-HS512","p2c":2000000000,"p2s":"AAAA"}`, false},
		{"R-081 alg RSA", `{"alg":"RSA-OAEP-256","enc":"A256CBC-HS512"}`, false},
		{"R-081 alg A256KW", `{"alg":"A256KW","enc":"A256CBC-HS512"}`, false},
		{"R-081 alg A256GCMKW", `{"alg":"A256GCMKW","enc":"A256CBC-HS512"}`, false},
		{"R-081 alg ECDH-ES", `{"alg":"ECDH-ES","enc":"A256CBC-HS512","epk":{}}`, false},
		{"R-081 alg none", `{"alg":"none","enc":"A256CBC-HS512"}`, false},
		{"R-081 alg in capitals", `{"alg":"DIR","enc":"A256CBC-HS512"}`, false},
		{"R-081 no alg", `{"enc":"A256CBC-HS512"}`, false},
		{"R-081 enc A128CBC-HS256", `{"alg":"dir","enc":"A128CBC-HS256"}`, false},
		{"R-081 enc A192CBC-HS384", `{"alg":"dir","enc":"A192CBC-HS384"}`, false},
		{"R-081 enc A128GCM", `{"alg":"dir","enc":"A128GCM"}`, false},
		{"R-081 enc A256GCM over other content", `{"alg":"dir","enc":"A256GCM"}`, false},
		{"R-081 enc in small letters", `{"alg":"dir","enc":"a256cbc-hs512"}`, false},
		{"R-081 no enc", `{"alg":"dir"}`, false},
		{"R-081 compression", `{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, false},
		{"R-081 crit", `{"alg":"dir","enc":"A256CBC-HS512","crit":["b64"]}`, false},
		{"R-081 empty crit", `{"alg":"dir","enc":"A256CBC-HS512","crit":[]}`, false},
		{"R-081 alg twice", `{"alg":"RSA-OAEP","alg":"dir","enc":"A256CBC-HS512"}`, false},
		{"R-081 enc twice", `{"alg":"dir","enc":"A256CBC-HS512","\u0065nc":"A256CBC-HS512"}`, false},
		{"R-081 a long header", `{"alg":"dir","enc":"A256CBC-HS512","x":"` + strings.Repeat("x", 1000) + `"}`, false},
		{"R-083 nulls", `{"alg":null,"enc":null,"kid":null}`, false},
		{"R-083 kid null", `{"alg":"dir","enc":"A256CBC-HS512","kid":null}`, false},
		{"R-083 kid a number", `{"alg":"dir","enc":"A256CBC-HS512","kid":1}`, false},
		{"R-083 alg a list", `{"alg":["dir"],"enc":"A256CBC-HS512"}`, false},
		{"R-083 a list", `["dir","A256CBC-HS512"]`, false},
		{"R-083 a text", `"dir"`, false},
		{"R-083 null", `null`, false},
		{"R-083 empty", ``, false},
		{"R-083 an empty object", `{}`, false},
		{"R-083 no JSON", `{"alg":"dir","enc":"A256CBC-HS512"`, false},
		{"R-083 more than an object", `{"alg":"dir","enc":"A256CBC-HS512"}{}`, false},
		{"R-083 invalid UTF-8", "{\"alg\":\"dir\",\"enc\":\"A256CBC-HS512\",\"x\":\"\xff\"}", false},
		{"R-090 kid of nobody", `{"alg":"dir","enc":"A256CBC-HS512","kid":"nobody"}`, false},
		{"R-090 empty kid", `{"alg":"dir","enc":"A256CBC-HS512","kid":""}`, false},
		{"R-090 kid of the key for A256GCM", `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + f.kid(32) + `"}`, false},
		{"R-090 kid an encoded header", `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + b64.EncodeToString([]byte(f.header())) + `"}`, false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			token := f.cbc(tt.header, object)
			if tt.ok {
				mustOpen(t, c, token, object)
			} else {
				mustRefuse(t, c, token)
			}
		})
	}
	for _, tt := range []struct {
		policy string
		header string
		size   int
		ok     bool
	}{
		{"A256GCM with kid", `{"alg":"dir","enc":"A256GCM","kid":"` + f.kid(32) + `"}`, 32, true},
		{"A256GCM without kid", `{"alg":"dir","enc":"A256GCM"}`, 32, true},
		{"R-090 A256GCM with the kid of the other key", `{"alg":"dir","enc":"A256GCM","kid":"` + kid + `"}`, 32, false},
		{"R-081 A256GCM under A256CBC-HS512", f.header(), 32, false},
		{"R-081 A128GCM", `{"alg":"dir","enc":"A128GCM"}`, 16, false},
		{"R-081 A192GCM", `{"alg":"dir","enc":"A192GCM"}`, 24, false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			token := f.gcm(tt.header, object, tt.size)
			if tt.ok {
				mustOpen(t, c, token, object)
			} else {
				mustRefuse(t, c, token)
			}
		})
	}
}

func TestCutHeadersNeverPanic(t *testing.T) {
	// everything has each construct of JSON, so that its prefixes end in the
	// middle of each.
	const everything = ` {"a\"\\\/\b\f\n\r\t\u00e9\ud83e\udd8a" : "\"\\\/\b\f\n\r\t\u00E9", "b":[-0.5e+3, 1E-2 ,0,[],{}], "c":{"\u0064":true,"e":false,"f":null} , "ü":"🦊"} `
	c := jwt.NewCodec([]string{secret}, salt)
	for n := range len(everything) + 1 {
		cut := []byte(everything[:n])
		mustRefuse(t, c, b64.EncodeToString(cut)+"..AAAAAAAAAAAAAAAAAAAAAA.AAAA.AAAA")
		for b := range 256 {
			if n > 0 {
				cut[n-1] = byte(b)
			}
			mustRefuse(t, c, b64.EncodeToString(cut)+"....")
		}
	}
}

func TestHostileForms(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	p := strings.Split(seal(t, c, object), ".")
	gcm := strings.Split(forger{tb: t, secret: secret, salt: salt}.gcm(`{"alg":"dir","enc":"A256GCM"}`, "", 32), ".")
	flattened, err := json.Marshal(map[string]string{"protected": p[0], "iv": p[2], "ciphertext": p[3], "tag": p[4]})
	if err != nil {
		t.Fatal(err)
	}
	for policy, token := range map[string]string{
		"R-083 empty":                      "",
		"R-083 dots":                       "....",
		"R-083 one dot":                    ".",
		"R-083 letters":                    "a.b.c.d.e",
		"R-083 no header":                  strings.Join([]string{"", "", p[2], p[3], p[4]}, "."),
		"R-083 no IV":                      strings.Join([]string{p[0], "", "", p[3], p[4]}, "."),
		"R-083 short IV":                   strings.Join([]string{p[0], "", p[2][:16], p[3], p[4]}, "."),
		"R-083 long IV":                    strings.Join([]string{p[0], "", p[2] + "AA", p[3], p[4]}, "."),
		"R-083 no ciphertext":              strings.Join([]string{p[0], "", p[2], "", p[4]}, "."),
		"R-083 half a block":               strings.Join([]string{p[0], "", p[2], p[3][:11], p[4]}, "."),
		"R-083 no tag":                     strings.Join([]string{p[0], "", p[2], p[3], ""}, "."),
		"R-084 half a tag":                 strings.Join([]string{p[0], "", p[2], p[3], p[4][:22]}, "."),
		"R-083 a key part":                 strings.Join([]string{p[0], "AAAA", p[2], p[3], p[4]}, "."),
		"R-083 four parts":                 strings.Join([]string{p[0], p[2], p[3], p[4]}, "."),
		"R-083 six parts":                  strings.Join([]string{p[0], "", p[2], p[3], p[4], ""}, "."),
		"R-083 no IV for A256GCM":          strings.Join([]string{gcm[0], "", "", gcm[3], gcm[4]}, "."),
		"R-083 no tag for A256GCM":         strings.Join([]string{gcm[0], "", gcm[2], gcm[3], ""}, "."),
		"R-083 sixteen bytes IV for GCM":   strings.Join([]string{gcm[0], "", p[2], gcm[3], gcm[4]}, "."),
		"R-080 padded base64":              strings.Join([]string{p[0], "", p[2] + "==", p[3], p[4]}, "."),
		"R-080 standard base64":            strings.Join([]string{p[0], "", "+/+/" + p[2][4:], p[3], p[4]}, "."),
		"R-081 a signed token":             "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.AAAA",
		"R-081 an unsigned token":          "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
		"R-081 the flattened JSON form":    string(flattened),
		"R-081 a token within a token":     forger{tb: t, secret: "other", salt: salt}.cbc(forger{tb: t, secret: "other", salt: salt}.header(), strings.Join(p, ".")),
		"R-083 64 KiB of dots":             strings.Repeat(".", jwt.MaxLen),
		"R-083 deep nesting in the header": b64.EncodeToString([]byte(strings.Repeat("[", 700))) + "." + strings.Join(p[1:], "."),
	} {
		t.Run(policy, func(t *testing.T) { mustRefuse(t, c, token) })
	}
}

func TestTagBeforePadding(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	block := bytes.Repeat([]byte("x"), 15)
	for policy, last := range map[string]byte{"zero": 0, "seventeen": 17, "two without a second": 2, "255": 255} {
		t.Run("R-084 authentic with padding "+policy, func(t *testing.T) {
			mustRefuse(t, c, f.cbcPadded(f.header(), append(bytes.Clone(block), last)))
		})
	}
	for _, size := range []int{0, 1, 15, 17} {
		t.Run(fmt.Sprintf("R-083 authentic with %d bytes of ciphertext", size), func(t *testing.T) {
			mustRefuse(t, c, f.authentic(f.header(), make([]byte, 16), make([]byte, size)))
		})
	}
	for _, size := range []int{0, 12, 15, 17} {
		t.Run(fmt.Sprintf("R-083 authentic with %d bytes of IV", size), func(t *testing.T) {
			mustRefuse(t, c, f.authentic(f.header(), make([]byte, size), make([]byte, 16)))
		})
	}
	t.Run("R-084 a wrong tag over good padding is the same error", func(t *testing.T) {
		good := f.cbc(f.header(), object)
		i := strings.LastIndexByte(good, '.') + 1
		mustRefuse(t, c, good[:i]+flip(good[i:i+1])+good[i+1:])
	})
	t.Run("R-084 every byte of the tag counts", func(t *testing.T) {
		good := f.cbc(f.header(), object)
		i := strings.LastIndexByte(good, '.') + 1
		tag, err := b64.DecodeString(good[i:])
		if err != nil {
			t.Fatal(err)
		}
		for n := range tag {
			tag[n] ^= 0xff
			mustRefuse(t, c, good[:i]+b64.EncodeToString(tag))
			tag[n] ^= 0xff
		}
	})
}

func TestLength(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	longest := 0
	for size := 48_000; size < 50_000; size++ {
		token, err := c.Seal(bytes.Repeat([]byte("x"), size))
		if err != nil {
			if !errors.Is(err, jwt.ErrTooLong) {
				t.Fatal(err)
			}
			break
		}
		if len(token) > jwt.MaxLen {
			t.Fatalf("a token of %d characters was made", len(token))
		}
		longest = size
	}
	if longest == 0 || longest == 49_999 {
		t.Fatalf("the bound was not met: %d", longest)
	}
	payload := strings.Repeat("x", longest)
	mustOpen(t, c, seal(t, c, payload), payload)

	f := forger{tb: t, secret: secret, salt: salt}
	mustRefuse(t, c, f.cbc(f.header(), strings.Repeat("x", longest+1)))
}

func TestCost(t *testing.T) {
	c := jwt.NewCodec([]string{secret, "older 1", "older 2", "older 3"}, salt)
	token := seal(t, c, object)
	older := seal(t, jwt.NewCodec([]string{"older 3"}, salt), object)
	mustOpen(t, c, older, object) // derives the keys
	for name, op := range map[string]func(){
		"open":       func() { mustOpen(t, c, token, object) },
		"open older": func() { mustOpen(t, c, older, object) },
		"seal":       func() { seal(t, c, object) },
	} {
		if n := testing.AllocsPerRun(50, op); n > 6 {
			t.Errorf("%s: %v allocations, at most 6 are due", name, n)
		}
	}
	long := strings.Repeat("A", 1<<20)
	if n := testing.AllocsPerRun(50, func() { mustRefuse(t, c, long) }); n > 1 { // Error() of the comparison aside
		t.Errorf("refusing a long token: %v allocations", n)
	}
}
