package jwt_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/jwt"
)

const secureSalt = "__Secure-authjs.session-token"

func noEnv(string) string { return "" }

func tokenParams() jwt.TokenParams {
	return jwt.TokenParams{Secrets: []string{secret}, Getenv: noEnv, Time: params().Time}
}

func mint(tb testing.TB, sub, salt string) string {
	tb.Helper()
	p := params()
	p.Salt = salt
	token, err := jwt.Encode(jwt.Claims{"sub": sub}, p)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestGetToken(t *testing.T) {
	token := mint(t, "cookie", salt)
	bearer := "Bearer " + mint(t, "bearer", salt)
	long := mint(t, strings.Repeat("x", 9000), salt)
	pieces := http.Header{}
	for _, c := range cookie.Split(salt, long, 0) {
		pieces.Add("Cookie", c.Name+"="+c.Value)
	}
	gap := pieces.Clone()
	gap["Cookie"] = append(gap["Cookie"][:1], gap["Cookie"][2:]...)
	rescued := gap.Clone()
	rescued.Set("Authorization", bearer)

	for _, tt := range []struct {
		policy string
		h      http.Header
		sub    string
		err    error
	}{
		{"nothing", nil, "", jwt.ErrNoToken},
		{"cookie", headers("Cookie", salt+"="+token), "cookie", nil},
		{"cookie in pieces", pieces, strings.Repeat("x", 9000), nil},
		{"R-096 a piece is missing", gap, "", jwt.ErrNoToken},
		{"fragments are not rescued by the header", rescued, "", jwt.ErrNoToken},
		{"header", headers("Authorization", bearer), "bearer", nil},
		{"the cookie wins", headers("Cookie", salt+"="+token, "Authorization", bearer), "cookie", nil},
		{"a broken cookie is not rescued by the header", headers("Cookie", salt+"=broken", "Authorization", bearer), "", jwt.ErrInvalid},
		{"an empty cookie is none", headers("Cookie", salt+"=", "Authorization", bearer), "bearer", nil},
		{"another cookie is none", headers("Cookie", salt+"-other="+token, "Authorization", bearer), "bearer", nil},
		{"R-087 the other cookie's token", headers("Cookie", salt+"="+mint(t, "x", secureSalt)), "", jwt.ErrInvalid},
		{"percent-encoded cookie", headers("Cookie", salt+"="+strings.ReplaceAll(token, ".", "%2E")), "cookie", nil},
		{"percent-encoded header", headers("Authorization", strings.ReplaceAll(bearer, ".", "%2e")), "bearer", nil},
		{"R-108 malformed percent-encoding", headers("Authorization", "Bearer %E0%A4%A"), "", jwt.ErrNoToken},
		{"R-108 percent-encoded bytes that are no text", headers("Authorization", "Bearer %ff"), "", jwt.ErrNoToken},
		{"R-108 lone percent", headers("Authorization", "Bearer %"), "", jwt.ErrNoToken},
		{"R-108 no token", headers("Authorization", "Bearer"), "", jwt.ErrNoToken},
		{"R-108 no token after the space", headers("Authorization", "Bearer "), "", jwt.ErrNoToken},
		{"R-108 many spaces", headers("Authorization", strings.Replace(bearer, " ", "   ", 1)), "", jwt.ErrNoToken},
		{"R-108 only spaces", headers("Authorization", "Bearer "+strings.Repeat(" ", 1000)), "", jwt.ErrNoToken},
		{"R-108 tab", headers("Authorization", strings.Replace(bearer, " ", "\t", 1)), "", jwt.ErrNoToken},
		{"R-108 lower case", headers("Authorization", strings.ToLower(bearer[:7])+bearer[7:]), "", jwt.ErrNoToken},
		{"R-108 another scheme", headers("Authorization", "Basic "+bearer[7:]), "", jwt.ErrNoToken},
		{"R-108 a longer scheme", headers("Authorization", "BearerX "+bearer[7:]), "", jwt.ErrNoToken},
		{"R-108 empty", headers("Authorization", ""), "", jwt.ErrNoToken},
		{"R-108 1 MiB", headers("Authorization", "Bearer "+strings.Repeat("a", 1<<20)), "", jwt.ErrNoToken},
		{"R-108 1 MiB of percent signs", headers("Authorization", "Bearer "+strings.Repeat("%41", 1<<20/3)), "", jwt.ErrNoToken},
		{"R-108 beyond a token", headers("Authorization", "Bearer "+strings.Repeat("a", jwt.MaxLen+1)), "", jwt.ErrNoToken},
		{"R-108 two headers", headers("Authorization", bearer, "Authorization", bearer), "", jwt.ErrNoToken},
		{"more after the token", headers("Authorization", bearer+" more"), "bearer", nil},
		{"nonsense", headers("Authorization", "Bearer nonsense"), "", jwt.ErrInvalid},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			c, err := jwt.GetToken(tt.h, tokenParams())
			if !errors.Is(err, tt.err) || c.String("sub") != tt.sub || (c == nil) != (err != nil) {
				t.Errorf("GetToken = %.100v, %v, want %.100s, %v", c, err, tt.sub, tt.err)
			}
		})
	}
}

func TestGetRawToken(t *testing.T) {
	for _, tt := range []struct {
		policy string
		h      http.Header
		want   string
		err    error
	}{
		{"nothing", nil, "", jwt.ErrNoToken},
		{"the cookie is not checked", headers("Cookie", salt+"=any"), "any", nil},
		{"the header is not checked", headers("Authorization", "Bearer anything"), "anything", nil},
		{"pieces", headers("Cookie", salt+".1=b; "+salt+".0=a"), "ab", nil},
		{"percent-encoding is undone", headers("Cookie", salt+"=a%7Cb"), "a|b", nil},
		{"what is not encoded stays", headers("Cookie", salt+"=100%"), "100%", nil},
		{"plus is no space", headers("Authorization", "Bearer a+b"), "a+b", nil},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			got, err := jwt.GetRawToken(tt.h, tokenParams())
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("GetRawToken = %q, %v, want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestWhichCookie(t *testing.T) {
	yes, no := true, false
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, tt := range []struct {
		policy string
		p      jwt.TokenParams
		want   string
	}{
		{"no URL known", jwt.TokenParams{Getenv: noEnv}, salt},
		{"https", jwt.TokenParams{ApplicationURL: "https://example.com"}, secureSalt},
		{"http", jwt.TokenParams{ApplicationURL: "http://localhost:3000"}, salt},
		{"http in capitals", jwt.TokenParams{ApplicationURL: "HTTP://localhost:3000"}, salt},
		{"AUTH_URL https", jwt.TokenParams{Getenv: env("AUTH_URL", "https://example.com")}, secureSalt},
		{"AUTH_URL http", jwt.TokenParams{Getenv: env("AUTH_URL", "http://localhost")}, salt},
		{"NEXTAUTH_URL", jwt.TokenParams{Getenv: env("NEXTAUTH_URL", "https://example.com")}, secureSalt},
		{"AUTH_URL wins over NEXTAUTH_URL", jwt.TokenParams{Getenv: env("AUTH_URL", "http://localhost", "NEXTAUTH_URL", "https://example.com")}, salt},
		{"the field wins over the environment", jwt.TokenParams{ApplicationURL: "http://localhost", Getenv: env("AUTH_URL", "https://example.com")}, salt},
		{"SecureCookie wins over the URL", jwt.TokenParams{SecureCookie: &yes, ApplicationURL: "http://localhost"}, secureSalt},
		{"so does its absence", jwt.TokenParams{SecureCookie: &no, ApplicationURL: "https://example.com"}, salt},
		{"CookieName wins over all", jwt.TokenParams{CookieName: "mine", SecureCookie: &yes}, "mine"},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			h := headers("Cookie", tt.want+"="+mint(t, "me", tt.want))
			tt.p.Secrets, tt.p.Time = []string{secret}, params().Time
			if c, err := jwt.GetToken(h, tt.p); err != nil || c.String("sub") != "me" {
				t.Errorf("GetToken = %v, %v", c, err)
			}
		})
	}
}

func TestEnvironmentIsTheDefault(t *testing.T) {
	t.Setenv("AUTH_URL", "https://example.com")
	p := tokenParams()
	p.Getenv = nil
	if token, err := jwt.GetRawToken(headers("Cookie", secureSalt+"=s; "+salt+"=p"), p); err != nil || token != "s" {
		t.Errorf("GetRawToken = %q, %v", token, err)
	}
}

func TestOtherSalt(t *testing.T) {
	p := tokenParams()
	p.Salt = "other"
	if c, err := jwt.GetToken(headers("Cookie", salt+"="+mint(t, "me", "other")), p); err != nil || c.String("sub") != "me" {
		t.Errorf("GetToken = %v, %v", c, err)
	}
}

func TestOtherDecode(t *testing.T) {
	h := headers("Cookie", salt+"=opaque")
	p := tokenParams()
	p.Decode = func(token string, got jwt.Params) (jwt.Claims, error) {
		if got.Salt != salt || got.Secrets[0] != secret {
			t.Errorf("Decode was given %v", got.Salt)
		}
		return jwt.Claims{"sub": token}, nil
	}
	if c, err := jwt.GetToken(h, p); err != nil || c.String("sub") != "opaque" {
		t.Errorf("GetToken = %v, %v", c, err)
	}
	t.Run("R-242 nothing without an error is an error", func(t *testing.T) {
		p.Decode = func(string, jwt.Params) (jwt.Claims, error) { return nil, nil }
		if c, err := jwt.GetToken(h, p); !errors.Is(err, jwt.ErrInvalid) || c != nil {
			t.Errorf("GetToken = %v, %v", c, err)
		}
	})
	t.Run("R-242 claims beside an error are dropped", func(t *testing.T) {
		broken := errors.New("broken")
		p.Decode = func(string, jwt.Params) (jwt.Claims, error) { return jwt.Claims{"sub": "x"}, broken }
		if c, err := jwt.GetToken(h, p); !errors.Is(err, broken) || c != nil {
			t.Errorf("GetToken = %v, %v", c, err)
		}
	})
}

func TestNoSecret(t *testing.T) {
	p := tokenParams()
	p.Secrets = nil
	if c, err := jwt.GetToken(headers("Cookie", salt+"=x"), p); !errors.Is(err, jwt.ErrNoSecret) || c != nil {
		t.Errorf("R-091 GetToken = %v, %v", c, err)
	}
}

func TestRefusalsAreLoggedWithoutTheToken(t *testing.T) {
	expired := params()
	expired.MaxAge = -1e12
	old, err := jwt.Encode(nil, expired)
	if err != nil {
		t.Fatal(err)
	}
	leaky := func(token string, _ jwt.Params) (jwt.Claims, error) { return nil, errors.New("cannot read " + token) }
	for _, tt := range []struct {
		policy, token, want string
		secrets             []string
		decode              func(string, jwt.Params) (jwt.Claims, error)
	}{
		{"R-236 invalid", "canary", "reason=invalid", []string{secret}, nil},
		{"R-236 expired", old, "reason=expired", []string{secret}, nil},
		{"R-236 no secret", "canary", `reason="no secret"`, nil, nil},
		{"R-236 an error that quotes the token", "canary", "reason=decoder", []string{secret}, leaky},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			var log bytes.Buffer
			p := tokenParams()
			p.Secrets, p.Decode = tt.secrets, tt.decode
			p.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			if _, err := jwt.GetToken(headers("Cookie", salt+"="+tt.token), p); err == nil {
				t.Fatal("accepted")
			}
			if got := log.String(); !strings.Contains(got, tt.want) || strings.Contains(got, tt.token) || strings.Contains(got, secret) {
				t.Errorf("log = %s", got)
			}
		})
	}
}

// a site that says nothing else has its secrets in the environment, and
// may have taken the prefix of a host for its cookies.
func TestGetTokenOfTheEnvironment(t *testing.T) {
	const host = "__Host-authjs.session-token"
	env := map[string]string{"AUTH_URL": "https://app.example", "AUTH_SECRET": params().Secrets[0]}
	get := func(h http.Header) (jwt.Claims, error) {
		return jwt.GetToken(h, jwt.TokenParams{Getenv: func(name string) string { return env[name] }, Time: params().Time})
	}
	sealedFor := func(name, sub string) string {
		p := params()
		p.Salt, p.Secrets = name, []string{env["AUTH_SECRET"]}
		token, err := jwt.Encode(jwt.Claims{"sub": sub}, p)
		if err != nil {
			t.Fatal(err)
		}
		return name + "=" + token
	}
	usual, own := sealedFor("__Secure-authjs.session-token", "usual"), sealedFor(host, "own")
	for cookies, want := range map[string]string{usual: "usual", own: "own", usual + "; " + own: "own"} {
		if c, err := get(http.Header{"Cookie": {cookies}}); err != nil || c.String("sub") != want {
			t.Errorf("%v, %v, want %s", c, err, want)
		}
	}
	env["AUTH_SECRET_1"], env["NEXTAUTH_SECRET"] = env["AUTH_SECRET"], "another secret, of before the move"
	delete(env, "AUTH_SECRET")
	if c, err := get(http.Header{"Cookie": {own}}); err != nil || c.String("sub") != "own" {
		t.Errorf("rotated: %v, %v", c, err)
	}
	clear(env)
	if _, err := get(http.Header{"Cookie": {strings.Replace(own, "__Host-", "", 1)}}); !errors.Is(err, jwt.ErrNoSecret) {
		t.Errorf("no secret: %v", err)
	}
}
