package webauthn_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// spoils are ways in which both kinds of answer can be wrong.
var spoils = map[string]func(*device){
	"R-162 another challenge":              setClient("challenge", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
	"R-162 an empty challenge":             setClient("challenge", ""),
	"R-162 a challenge that is no text":    setClient("challenge", 1),
	"R-164 no type":                        setClient("type", ""),
	"R-164 the other ceremony":             func(d *device) { d.kind = "webauthn.other" },
	"R-166 another host":                   setClient("origin", "http://evil.example"),
	"R-166 a sub-domain":                   setClient("origin", "http://a.127.0.0.1"),
	"R-166 a trailing slash":               func(d *device) { d.origin += "/" },
	"R-166 another scheme":                 func(d *device) { d.origin = strings.Replace(d.origin, "http", "https", 1) },
	"R-166 upper case":                     func(d *device) { d.origin = strings.ToUpper(d.origin) },
	"R-166 no port":                        setClient("origin", "http://127.0.0.1"),
	"R-166 null":                           setClient("origin", nil),
	"R-166 a frame of another site":        setClient("crossOrigin", true),
	"R-166 inside of another page":         setClient("topOrigin", "http://evil.example"),
	"R-168 another relying party":          func(d *device) { d.rpID = "evil.example" },
	"R-169 nobody is present":              func(d *device) { d.flags &^= present },
	"R-169 nobody was verified":            func(d *device) { d.flags &^= verified },
	"R-176 R-177 short authenticator data": setData(func(b []byte) []byte { return b[:30] }),
	"R-176 R-177 bytes behind the data":    setData(func(b []byte) []byte { return append(b, 0) }),
	"R-176 R-177 no extensions":            setData(func(b []byte) []byte { b[32] |= 0x80; return b }),
	"R-176 R-177 backed up but never can":  func(d *device) { d.flags &^= eligible },
}

func setClient(name string, value any) func(*device) {
	return func(d *device) {
		d.spoil = func(client map[string]any, data []byte) []byte { client[name] = value; return data }
	}
}

func setData(f func([]byte) []byte) func(*device) {
	return func(d *device) { d.spoil = func(_ map[string]any, data []byte) []byte { return f(data) } }
}

func TestRefusedRegistration(t *testing.T) {
	s := newSite(t, nil)
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			b, d := s.open()
			spoil(d)
			b.refuses(b.signUp(d, "ada@example.com"), latchkey.ErrWebAuthnVerification)
			if c := s.store.Contents(); len(c.Users)+len(c.Accounts)+len(c.Authenticators) != 0 {
				t.Errorf("something is stored: %d users", len(c.Users))
			}
		})
	}
}

func TestRefusedSignIn(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	rows := map[string]func(*device){
		"R-171 another key": func(d *device) { d.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		"R-174 no handle":   func(d *device) { d.handle = nil },
		"R-174 of another":  func(d *device) { d.handle = []byte("somebody else") },
	}
	for name, spoil := range spoils {
		rows[name] = spoil
	}
	for name, spoil := range rows {
		t.Run(name, func(t *testing.T) {
			b, _ := s.open()
			spoilt := *d
			spoil(&spoilt)
			b.refuses(b.signIn(&spoilt), latchkey.ErrWebAuthnVerification)
		})
	}
}

// TestMalformed. Nothing that a stranger posts is an error of ours.
func TestMalformed(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	for name, change := range map[string]func(answer, response map[string]any){
		"no id":                  func(a, _ map[string]any) { delete(a, "id") },
		"an id that is a number": func(a, _ map[string]any) { a["id"] = 1 },
		"an empty id":            func(a, _ map[string]any) { a["id"] = "" },
		"an id with padding":     func(a, _ map[string]any) { a["id"] = a["id"].(string) + "=" },
		"no rawId":               func(a, _ map[string]any) { delete(a, "rawId") },
		"another rawId":          func(a, _ map[string]any) { a["rawId"] = "AAAA" },
		"another type":           func(a, _ map[string]any) { a["type"] = "password" },
		"no type":                func(a, _ map[string]any) { delete(a, "type") },
		"no response":            func(a, _ map[string]any) { delete(a, "response") },
		"a response of text":     func(a, _ map[string]any) { a["response"] = "x" },
		"no client data":         func(_, r map[string]any) { delete(r, "clientDataJSON") },
		"client data of text":    func(_, r map[string]any) { r["clientDataJSON"] = b64([]byte(`"x"`)) },
		"no data":                func(_, r map[string]any) { delete(r, "authenticatorData"); delete(r, "attestationObject") },
		"data that is no base64": func(_, r map[string]any) { r["authenticatorData"], r["attestationObject"] = "*", "*" },
		"data that is no CBOR":   func(_, r map[string]any) { r["authenticatorData"], r["attestationObject"] = "AA", "/w" },
		"data that is null":      func(_, r map[string]any) { r["authenticatorData"], r["attestationObject"] = nil, nil },
	} {
		for action, answer := range map[string]func(*device, *testing.T, options) string{
			"register": (*device).creates, "authenticate": (*device).gets,
		} {
			t.Run(name+", "+action, func(t *testing.T) {
				b, fresh := s.open()
				using := fresh
				if action == "authenticate" {
					using = d
				}
				var m map[string]any
				if err := json.Unmarshal([]byte(answer(using, t, b.ask("?action="+action+"&email=eve@example.com"))), &m); err != nil {
					t.Fatal(err)
				}
				response, _ := m["response"].(map[string]any)
				change(m, response)
				b.refuses(b.send(action, string(must(json.Marshal(m)))), latchkey.ErrWebAuthnVerification)
			})
		}
	}
	for _, data := range []string{"", "{", "null", "[]", `"x"`, strings.Repeat("[", 10_000)} {
		b, _ := s.open()
		b.ask("?action=authenticate")
		b.refuses(b.send("authenticate", data), latchkey.ErrWebAuthnVerification)
	}
}

func (d *device) creates(t *testing.T, o options) string { return d.create(t, o) }
func (d *device) gets(t *testing.T, o options) string    { return d.get(t, o) }

func TestSignature(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	for _, signature := range []any{"", "AA", nil, b64(make([]byte, 70))} {
		b, _ := s.open()
		var m map[string]any
		if err := json.Unmarshal([]byte(d.get(t, b.ask("?action=authenticate"))), &m); err != nil {
			t.Fatal(err)
		}
		m["response"].(map[string]any)["signature"] = signature
		p := b.send("authenticate", string(must(json.Marshal(m))))
		b.refuses(p, latchkey.ErrWebAuthnVerification)
	}
}

func TestCounter(t *testing.T) {
	var told []latchkey.Event
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error { told = append(told, e); return nil }
	})
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	for _, step := range []struct {
		counter uint32
		want    latchkey.ErrorType
	}{{0, ""}, {0, ""}, {10, ""}, {10, latchkey.ErrWebAuthnVerification}, {9, latchkey.ErrWebAuthnVerification}, {0, latchkey.ErrWebAuthnVerification}, {11, ""}} {
		told = nil
		b, _ := s.open()
		d.counter = step.counter
		if p := b.signIn(d); p.Error() != string(step.want) {
			t.Errorf("R-172 counter %d: %q, want %q", step.counter, p.Error(), step.want)
		}
		raised := false
		for _, e := range told {
			raised = raised || e.Type == latchkey.EventPasskeyCounter && e.Outcome == latchkey.EventFailed && e.UserID != ""
		}
		if raised != (step.want != "") {
			t.Errorf("R-172 counter %d: told %v", step.counter, told)
		}
	}
}

func TestAnotherPasskey(t *testing.T) {
	s := newSite(t, nil)
	ada, adas := s.open()
	ada.signUp(adas, "ada@example.com")
	eve, eves := s.open()
	eve.signUp(eves, "eve@example.com")

	b, _ := s.open()
	b.refuses(b.send("authenticate", eves.get(t, b.ask("?email=ada@example.com"))), latchkey.ErrWebAuthnVerification)

	_, copied := s.open()
	copied.id = adas.id
	c, _ := s.open()
	c.refuses(c.signUp(copied, "mallory@example.com"), latchkey.ErrAccountNotLinked)
	long, big := s.open()
	big.id = make([]byte, 1024)
	long.refuses(long.signUp(big, "mallory@example.com"), latchkey.ErrWebAuthnVerification)

	if p := ada.signIn(eves); p.Error() != "WebAuthnVerificationError" { // she was asked for hers
		t.Errorf("signed in as ada, with the passkey of eve: %q", p.Error())
	}
	ada.isIn("ada@example.com")
	if c := s.store.Contents(); len(c.Users) != 2 || len(c.Authenticators) != 2 {
		t.Errorf("%d users, %d passkeys", len(c.Users), len(c.Authenticators))
	}
}

// TestForSomebodyElse: R-182. A passkey is for who is signed in, or for an e-mail
// address that nobody has.
func TestForSomebodyElse(t *testing.T) {
	s := newSite(t, nil)
	ada, d := s.open()
	ada.signUp(d, "ada@example.com")

	eve, eves := s.open()
	if p := eve.Get("/auth/webauthn-options/passkey?action=register&email=ada@example.com"); p.Status != http.StatusBadRequest {
		t.Errorf("options to register for ada: %d", p.Status)
	}
	o := eve.ask("?action=register&email=bob@example.com")
	bob, bobs := s.open()
	bob.signUp(bobs, "bob@example.com")
	eve.refuses(eve.send("register", eves.create(t, o)), latchkey.ErrAccountNotLinked)

	o = ada.ask("?action=register")
	_, second := s.open()
	ada.SignOut()
	if p := ada.send("register", second.create(t, o)); p.Error() != "Configuration" {
		t.Errorf("after the session has ended: %q", p.Error())
	}
	o = bob.ask("?action=register")
	kept := bob.Cookie("authjs.challenge")
	ada.signIn(d)
	ada.SetCookie(kept)
	if p := ada.send("register", second.create(t, o)); p.Location() != nil { // a page says that she is signed in
		t.Errorf("in another's session: %s", p.Location())
	}
	if c := s.store.Contents(); len(c.Users) != 2 || len(c.Authenticators) != 2 {
		t.Errorf("%d users, %d passkeys", len(c.Users), len(c.Authenticators))
	}
}

// TestCrossSite: R-122.
func TestCrossSite(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	b.SignOut()
	answer := d.get(t, b.ask("?action=authenticate"))
	form := url.Values{"action": {"authenticate"}, "data": {answer}}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+"/auth/callback/passkey", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	req.AddCookie(b.Cookie("authjs.challenge"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("from another site: %d", res.StatusCode)
	}
	form.Set("csrfToken", "wrong")
	b.Get("/auth/csrf")
	if p := b.postFrom(form); p != "MissingCSRF" {
		t.Errorf("with a wrong token: %q", p)
	}
}

// postFrom posts without the headers of a browser.
func (b *browser) postFrom(form url.Values) string {
	req, _ := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.URL+"/auth/callback/passkey", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range b.Cookies() {
		req.AddCookie(c)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	to, _ := res.Location()
	return to.Query().Get("error")
}

// TestStrangersLearnNothing: R-184.
func TestStrangersLearnNothing(t *testing.T) {
	for list, asked := range map[latchkey.CredentialList][]string{
		latchkey.ListNone: {"", "&action=authenticate", "&action=register"}, latchkey.ListDecoys: {"", "&action=authenticate", "&action=register"},
	} {
		s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
			c.Hardened = list == latchkey.ListNone // its default
			if c.Hardened {
				c.Cookies.HostPrefix = false
			} else {
				p.ListCredentials = list
			}
		})
		b, d := s.open()
		b.signUp(d, "ada@example.com")
		for _, query := range asked {
			known, unknown, again := shape(t, s, "ada@example.com", query), shape(t, s, "bob@example.com", query), shape(t, s, "bob@example.com", query)
			if known.text != unknown.text || strings.Join(unknown.ids, " ") != strings.Join(again.ids, " ") {
				t.Errorf("%s%s: %+v and %+v, and then %+v", list, query, known, unknown, again)
			}
		}
		eve, eves := s.open()
		if p := eve.signUp(eves, "ada@example.com"); p.Error() == "" {
			t.Errorf("%s: signed up with an e-mail address that is taken", list)
		}
		other, _ := s.open()
		other.send("authenticate", d.get(t, other.ask("?email=ada@example.com")))
		other.isIn("ada@example.com")
	}
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	if known := shape(t, s, "ada@example.com", ""); len(known.ids) != 1 || known.ids[0] != b64(d.id) {
		t.Errorf("%s: %v", latchkey.ListKnown, known)
	}
}

type shaped struct {
	text string
	ids  []string
}

// shape is what a stranger sees of options.
func shape(t *testing.T, s *site, email, query string) shaped {
	t.Helper()
	b, _ := s.open()
	o := b.ask("?email=" + email + query)
	var seen shaped
	for _, k := range o.Options.AllowCredentials {
		seen.ids = append(seen.ids, k.ID)
	}
	seen.text = o.Action + strings.Repeat(" key", len(seen.ids)) + strings.Repeat(" excluded", len(o.Options.Exclude))
	return seen
}

// TestAttestation: the site's own judgement of the maker counts.
func TestAttestation(t *testing.T) {
	var seen []webauthn.Attestation
	s := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) {
		p.Ceremony = webauthn.Ceremony{CheckAttestation: func(_ context.Context, a webauthn.Attestation) error {
			seen = append(seen, a)
			if a.Format == "none" {
				return http.ErrNotSupported
			}
			return nil
		}}
		p.Registration.Attestation = "direct"
	})
	b, d := s.open()
	b.refuses(b.signUp(d, "ada@example.com"), latchkey.ErrWebAuthnVerification)
	if len(seen) != 1 || seen[0].AAGUID != "d548826e-79b4-db40-a3d8-11116f7e8349" || len(seen[0].ClientDataHash) != 32 || seen[0].Type != "none" {
		t.Errorf("judged %+v", seen)
	}
}

// TestPreferred: R-169. What is only preferred is not demanded.
func TestPreferred(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		p := webauthn.Provider(latchkey.WebAuthn{ID: "passkey", SkipConditionalUI: true})
		p.Authentication.UserVerification, p.Registration.UserVerification = latchkey.Preferred, latchkey.Discouraged
		c.Providers = []latchkey.Provider{p}
	})
	b, d := s.open()
	d.flags &^= verified
	b.signUp(d, "ada@example.com")
	b.SignOut()
	b.signIn(d)
	b.isIn("ada@example.com")
}
