package sitetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Benchmarks of what every request costs. Beside each stand its baselines: a
// bare handler with the same answer, and one written by hand that does only
// what cannot be avoided. docs/internals/performance.md has the table and the command.

const (
	benchSecret = "a secret for benchmarks that is long enough"
	benchCookie = "authjs.session-token"
)

var quiet = slog.New(slog.DiscardHandler)

func benchAuth(b testing.TB, change func(*latchkey.Config)) *latchkey.Auth {
	b.Helper()
	c := latchkey.Config{
		Secrets: []string{benchSecret}, Site: latchkey.Site{TrustHost: true}, Runtime: latchkey.Runtime{Logger: quiet},
		Limits: latchkey.Limits{Disabled: true},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, f map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if f["password"] != "wonderland" {
					return latchkey.User{}, nil
				}
				return latchkey.User{ID: "1", Name: "Alice", Email: "alice@example.com"}, nil
			},
		}},
	}
	if change != nil {
		change(&c)
	}
	auth, err := latchkey.New(c)
	if err != nil {
		b.Fatal(err)
	}
	return auth
}

// wire is a connection that sends the same request again and again, with as
// little client around it as possible.
type wire struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func openWire(b *testing.B, h http.Handler, request string) *wire {
	b.Helper()
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return &wire{conn, bufio.NewReader(conn), []byte(request)}
}

// roundTrip returns the status line.
func (w *wire) roundTrip(b *testing.B) string {
	if _, err := w.conn.Write(w.request); err != nil {
		b.Fatal(err)
	}
	status, length := "", 0
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if status == "" {
			status = string(line)
		}
		if len(line) == 2 {
			break
		}
		if rest, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			fmt.Sscan(string(rest), &length)
		}
	}
	if _, err := w.in.Discard(length); err != nil {
		b.Fatal(err)
	}
	return status
}

func (w *wire) run(b *testing.B, want string) {
	if status := w.roundTrip(b); !strings.Contains(status, want) {
		b.Fatal(status)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.roundTrip(b)
	}
}

// signedInCookies is the Cookie header of a browser with all cookies and a
// session.
func signedInCookies(b *testing.B, claims jwt.Claims, older ...string) string {
	b.Helper()
	token, err := jwt.Encode(claims, jwt.Params{Secrets: []string{benchSecret}, Salt: benchCookie})
	if err != nil {
		b.Fatal(err)
	}
	sum := sha256.Sum256([]byte(strings.Repeat("a", 64) + strings.Join(append([]string{benchSecret}, older...), ",")))
	return "authjs.csrf-token=" + strings.Repeat("a", 64) + "%7C" + hex.EncodeToString(sum[:]) +
		"; authjs.callback-url=http%3A%2F%2Fsite.example; " + benchCookie + "=" + token
}

func alice() jwt.Claims {
	return jwt.Claims{"sub": "1", "name": "Alice", "email": "alice@example.com", "picture": nil}
}

func getRequest(path, cookies string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: site.example\r\nCookie: " + cookies + "\r\n\r\n"
}

// BenchmarkSessionRead is GET /session over HTTP: open, shape, seal, answer.
func BenchmarkSessionRead(b *testing.B) {
	custom := func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) { return t.Claims, nil }
		c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
			r.Session.User.Extra = latchkey.Claims{"id": r.Claims.String("sub")}
			return r.Session, nil
		}
	}
	var older []string
	for range 9 {
		older = append(older, rand.Text()+rand.Text())
	}
	many := func(c *latchkey.Config) {
		for i := range 100 {
			c.Providers = append(c.Providers, &latchkey.OAuth{ID: fmt.Sprint("p", i), OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"})
		}
		c.Secrets = append(c.Secrets, older...)
	}
	big := alice()
	big["big"] = strings.Repeat("x", 2000)
	for _, bench := range []struct {
		name    string
		handler http.Handler
		claims  jwt.Claims
		older   []string
	}{
		{"bare", bareSession(), alice(), nil},
		{"handwritten", newHandwritten().general(), alice(), nil},
		{"latchkey-callbacks", benchAuth(b, custom), alice(), nil},
		{"handwritten-dedicated", newHandwritten().dedicated(), alice(), nil},
		{"latchkey-default", benchAuth(b, nil), alice(), nil},
		{"latchkey-default-100-providers-10-secrets", benchAuth(b, many), alice(), older},
		{"handwritten-big", newHandwritten().general(), big, nil},
		{"latchkey-callbacks-big", benchAuth(b, custom), big, nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			openWire(b, bench.handler, getRequest("/auth/session", signedInCookies(b, bench.claims, bench.older...))).run(b, "200")
		})
	}
}

// BenchmarkMiddleware is a page behind LoadSession.
func BenchmarkMiddleware(b *testing.B) {
	auth := benchAuth(b, nil)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	looking := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if latchkey.SessionFrom(r.Context()) == nil {
			b.Error("no session")
		}
		w.WriteHeader(http.StatusOK)
	})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "site.example"
	r.Header.Set("Cookie", signedInCookies(b, alice()))
	for _, bench := range []struct {
		name    string
		handler http.Handler
	}{
		{"bare", page},
		{"nobody-looks", auth.LoadSession(page)},
		{"handwritten-looks", newHandwritten().middleware(page)},
		{"somebody-looks", auth.LoadSession(looking)},
		{"required", auth.RequireSession(page)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.handler.ServeHTTP(&discard{h: make(http.Header, 4)}, r)
			}
		})
	}
}

type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkCredentials is POST /callback/credentials over HTTP.
func BenchmarkCredentials(b *testing.B) {
	form := "csrfToken=" + strings.Repeat("a", 64) + "&username=alice&password=wonderland"
	post := func(cookies string) string {
		return fmt.Sprintf("POST /auth/callback/credentials HTTP/1.1\r\nHost: site.example\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", cookies, len(form), form)
	}
	for _, bench := range []struct {
		name    string
		handler http.Handler
	}{
		{"bare", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			http.Redirect(w, r, "http://site.example", http.StatusFound)
		})},
		{"handwritten", newHandwritten().credentials()},
		{"latchkey", benchAuth(b, nil)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			openWire(b, bench.handler, post(signedInCookies(b, alice()))).run(b, "302")
		})
	}
}

func bareSession() http.Handler {
	body := []byte(`{"user":{"name":"Alice","email":"alice@example.com","image":null},"expires":"2026-12-21T00:00:00.000Z"}`)
	cookie := benchCookie + "=" + strings.Repeat("x", 400) + "; Path=/; Expires=Mon, 21 Dec 2026 00:00:00 GMT; HttpOnly; SameSite=Lax"
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "private, no-cache, no-store")
		h.Set("Set-Cookie", cookie)
		w.Write(body)
	})
}

// handwritten is what a careful developer would write for this one cookie:
// the key derived once, one decryption, one decoding, one encryption.
type handwritten struct {
	block    cipher.Block
	macKey   []byte
	header   string
	deadline time.Duration
}

func newHandwritten() *handwritten {
	key, err := hkdf.Key(sha256.New, []byte(benchSecret), []byte(benchCookie), "Auth.js Generated Encryption Key ("+benchCookie+")", 64)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		panic(err)
	}
	thumb := sha512.Sum512([]byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`))
	header := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + base64.RawURLEncoding.EncodeToString(thumb[:]) + `"}`
	return &handwritten{block, key[:32], base64.RawURLEncoding.EncodeToString([]byte(header)), 30 * 24 * time.Hour}
}

func (h *handwritten) tag(iv, text []byte) []byte {
	mac := hmac.New(sha512.New, h.macKey)
	mac.Write([]byte(h.header))
	mac.Write(iv)
	mac.Write(text)
	var bits [8]byte
	binary.BigEndian.PutUint64(bits[:], uint64(len(h.header))*8)
	mac.Write(bits[:])
	return mac.Sum(nil)[:32]
}

func (h *handwritten) open(token string) ([]byte, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 5 || parts[0] != h.header {
		return nil, errors.New("not ours")
	}
	iv, err1 := base64.RawURLEncoding.DecodeString(parts[2])
	text, err2 := base64.RawURLEncoding.DecodeString(parts[3])
	tag, err3 := base64.RawURLEncoding.DecodeString(parts[4])
	if err := errors.Join(err1, err2, err3); err != nil || len(iv) != 16 || len(text) == 0 || len(text)%16 != 0 {
		return nil, errors.New("malformed")
	}
	if !hmac.Equal(tag, h.tag(iv, text)) {
		return nil, errors.New("forged")
	}
	cipher.NewCBCDecrypter(h.block, iv).CryptBlocks(text, text)
	return text[:len(text)-int(text[len(text)-1])], nil
}

func (h *handwritten) seal(payload []byte) string {
	pad := 16 - len(payload)%16
	text := append(payload, bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := make([]byte, 16)
	rand.Read(iv)
	cipher.NewCBCEncrypter(h.block, iv).CryptBlocks(text, text)
	e := base64.RawURLEncoding
	return h.header + ".." + e.EncodeToString(iv) + "." + e.EncodeToString(text) + "." + e.EncodeToString(h.tag(iv, text))
}

func (h *handwritten) setCookie(w http.ResponseWriter, token string, expires time.Time) {
	http.SetCookie(w, &http.Cookie{Name: benchCookie, Value: token, Path: "/", Expires: expires, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (h *handwritten) answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, no-cache, no-store")
	w.Header().Set("Expires", "0")
	w.Header().Set("Pragma", "no-cache")
	w.Write(body)
}

// general keeps whatever claims a token has.
func (h *handwritten) general() http.Handler {
	type user struct {
		ID    any `json:"id"`
		Name  any `json:"name"`
		Email any `json:"email"`
		Image any `json:"image"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, ok := h.claims(r)
		if !ok {
			w.Write([]byte("null"))
			return
		}
		now := time.Now()
		expires := now.Add(h.deadline)
		body, _ := json.Marshal(map[string]any{
			"user":    user{claims["sub"], claims["name"], claims["email"], claims["picture"]},
			"expires": expires.UTC().Format("2006-01-02T15:04:05.000Z"),
		})
		h.setCookie(w, h.renew(claims, now, expires), expires)
		h.answer(w, body)
	})
}

func (h *handwritten) claims(r *http.Request) (map[string]any, bool) {
	c, err := r.Cookie(benchCookie)
	if err != nil {
		return nil, false
	}
	payload, err := h.open(c.Value)
	if err != nil {
		return nil, false
	}
	var claims map[string]any
	if json.Unmarshal(payload, &claims) != nil {
		return nil, false
	}
	exp, ok := claims["exp"].(float64)
	return claims, ok && int64(exp) > time.Now().Unix()
}

func (h *handwritten) renew(claims map[string]any, now, expires time.Time) string {
	claims["iat"], claims["exp"], claims["jti"] = now.Unix(), expires.Unix(), rand.Text()
	payload, _ := json.Marshal(claims)
	return h.seal(payload)
}

// dedicated knows its claims beforehand.
func (h *handwritten) dedicated() http.Handler {
	type claims struct {
		Sub     string  `json:"sub"`
		Name    *string `json:"name"`
		Email   *string `json:"email"`
		Picture *string `json:"picture"`
		Iat     int64   `json:"iat"`
		Exp     int64   `json:"exp"`
		Jti     string  `json:"jti"`
	}
	type user struct {
		Name  *string `json:"name"`
		Email *string `json:"email"`
		Image *string `json:"image"`
	}
	type session struct {
		User    user   `json:"user"`
		Expires string `json:"expires"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie(benchCookie)
		if err != nil {
			w.Write([]byte("null"))
			return
		}
		payload, err := h.open(cookie.Value)
		var c claims
		now := time.Now()
		if err != nil || json.Unmarshal(payload, &c) != nil || c.Exp < now.Unix() {
			w.Write([]byte("null"))
			return
		}
		expires := now.Add(h.deadline)
		body, _ := json.Marshal(session{user{c.Name, c.Email, c.Picture}, expires.UTC().Format("2006-01-02T15:04:05.000Z")})
		c.Iat, c.Exp, c.Jti = now.Unix(), expires.Unix(), rand.Text()
		renewed, _ := json.Marshal(c)
		h.setCookie(w, h.seal(renewed), expires)
		h.answer(w, body)
	})
}

// middleware checks and renews the session before every page.
func (h *handwritten) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, ok := h.claims(r)
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		now := time.Now()
		expires := now.Add(h.deadline)
		h.setCookie(w, h.renew(claims, now, expires), expires)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), handwrittenKey{}, claims)))
	})
}

type handwrittenKey struct{}

// credentials checks the CSRF token and the password and mints a token.
func (h *handwritten) credentials() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("authjs.csrf-token")
		if err != nil || r.ParseForm() != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		token, hash, _ := strings.Cut(c.Value, "%7C")
		sum := sha256.Sum256([]byte(token + benchSecret))
		if !hmac.Equal([]byte(hash), []byte(hex.EncodeToString(sum[:]))) || r.PostForm.Get("csrfToken") != token ||
			r.PostForm.Get("password") != "wonderland" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		now := time.Now()
		expires := now.Add(h.deadline)
		h.setCookie(w, h.renew(map[string]any{"sub": "1", "name": "Alice", "email": "alice@example.com", "picture": nil}, now, expires), expires)
		w.Header().Set("Location", "http://site.example")
		w.WriteHeader(http.StatusFound)
	})
}
