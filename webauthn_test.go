package latchkey

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// The decisions about passkeys that need no authenticator. Module webauthn
// tests whole ceremonies.

func TestWhatIsDoneWithPasskeys(t *testing.T) {
	ada := &User{ID: "1", Email: "ada@example.com"}
	in := &currentUser{user: *ada}
	for _, c := range []struct {
		name   string
		list   passkey.CredentialList
		action string
		who    visitorInfo
		want   string
	}{
		{"a visitor without an address signs in", passkey.ListKnown, "", visitorInfo{}, actionAuthenticate},
		{"a known address signs in", passkey.ListKnown, "", visitorInfo{user: ada, exists: true}, actionAuthenticate},
		{"an unknown address signs up", passkey.ListKnown, "", visitorInfo{user: ada}, actionRegister},
		{"a known address cannot sign up", passkey.ListKnown, actionRegister, visitorInfo{user: ada, exists: true}, ""},
		{"R-184 unless that would tell that it is known", passkey.ListNone, actionRegister, visitorInfo{user: ada, exists: true}, actionRegister},
		{"R-184 an unknown address looks like a known one", passkey.ListDecoys, "", visitorInfo{user: ada}, actionAuthenticate},
		{"a signed-in user adds a passkey", passkey.ListKnown, actionRegister, visitorInfo{user: ada, exists: true, here: in}, actionRegister},
		{"a signed-in user may prove it is them", passkey.ListKnown, actionAuthenticate, visitorInfo{user: ada, exists: true, here: in}, actionAuthenticate},
		{"a signed-in user has to say what for", passkey.ListKnown, "", visitorInfo{user: ada, exists: true, here: in}, ""},
		{"nobody signs up without an address", passkey.ListKnown, actionRegister, visitorInfo{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &webauthnProvider{WebAuthn: WebAuthn{ListCredentials: c.list}}
			if got := w.decide(c.action, &c.who); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// an authenticator that names another user than the one who was registered
// is refused.
func TestUserHandle(t *testing.T) {
	handle := []byte("thirty-two random bytes, in truth")
	asText := []byte(base64.RawURLEncoding.EncodeToString(handle))
	asked := "somebody's hash"
	for _, c := range []struct {
		name          string
		stored, given []byte
		asked         *string
		refused       bool
	}{
		{"the same handle", handle, handle, nil, false},
		{"its text, from an older browser script", handle, asText, nil, false},
		{"another user's", handle, []byte("another"), nil, true},
		{"another user's, for a known user", handle, []byte("another"), &asked, true},
		{"none, for a known user", handle, nil, &asked, false},
		{"none, for any user", handle, nil, nil, true},
		{"a passkey of Auth.js, which has none", nil, []byte("whatever"), nil, false},
	} {
		t.Run("R-174 "+c.name, func(t *testing.T) {
			err := checkHandle(&challenge{Asked: c.asked}, &storage.Authenticator{UserHandle: c.stored}, c.given)
			if (err != nil) != c.refused {
				t.Errorf("error %v, want one: %t", err, c.refused)
			}
		})
	}
}

// made-up passkeys of an address are always the same, and those of another
// address, site or tenant differ.
func TestDecoys(t *testing.T) {
	site := func(key, tenant string) *webauthnProvider {
		return &webauthnProvider{WebAuthn: WebAuthn{ID: "passkey"}, setup: &setup{csrfSecret: key, tenant: tenant}}
	}
	id := func(w *webauthnProvider, name string) []byte { return w.blend(name, nil)[0].CredentialID }
	ours := site("key", "")
	want := id(ours, "ada@example.com")
	if !bytes.Equal(id(ours, "ada@example.com"), want) || len(want) < 16 {
		t.Errorf("the decoy of an address changes, or is short: %x", want)
	}
	for name, other := range map[string][]byte{
		"another address": id(ours, "bob@example.com"), "another site": id(site("other", ""), "ada@example.com"), "another tenant": id(site("key", "b"), "ada@example.com"),
	} {
		if bytes.Equal(other, want) {
			t.Errorf("%s has the same decoy", name)
		}
	}
}

// a site takes the user handles that it has made for its own, and those of
// no other port, path, relying party, secret or tenant.
func TestOwnHandles(t *testing.T) {
	site := func(key, tenant string) *webauthnProvider {
		return &webauthnProvider{setup: &setup{csrfSecret: key, csrfSecrets: []string{key}, tenant: tenant}}
	}
	at := func(origin, base string) *links { return &links{origin: weburl.Origin{Text: origin}, base: base} }
	ours, here, party := site("key", ""), at("https://shop.example", "/auth"), &passkey.RelyingParty{ID: "shop.example"}
	handle := ours.newHandle(here, party)
	if !ours.isOwnHandle(handle, here, party) {
		t.Error("R-525 the site does not know its own handle")
	}
	for name, taken := range map[string]bool{
		"another port":          ours.isOwnHandle(handle, at("https://shop.example:8443", "/auth"), party),
		"another path":          ours.isOwnHandle(handle, at("https://shop.example", "/b/auth"), party),
		"another relying party": ours.isOwnHandle(handle, here, &passkey.RelyingParty{ID: "example"}),
		"another secret":        site("other", "").isOwnHandle(handle, here, party),
		"another tenant":        site("key", "b").isOwnHandle(handle, here, party),
	} {
		if taken {
			t.Errorf("R-525 %s takes it for its own", name)
		}
	}
}

func TestAnsweredChallenge(t *testing.T) {
	clientData := base64.RawURLEncoding.EncodeToString([]byte(`{"challenge":"c"}`))
	c, id, err := answeredChallenge([]byte(`{"id":"AQI","response":{"clientDataJSON":"` + clientData + `"}}`))
	if err != nil || c != "c" || !bytes.Equal(id, []byte{1, 2}) {
		t.Errorf("%q, %x, %v", c, id, err)
	}
	deep := strings.Repeat("[", 20) + strings.Repeat("]", 20)
	for name, bad := range map[string]string{
		"R-522 longer than 64 KiB":            `{"id":"AQI","response":{"clientDataJSON":"` + clientData + `"},"x":"` + strings.Repeat("x", 64<<10) + `"}`,
		"R-522 nested":                        `{"id":"AQI","response":{"clientDataJSON":"` + clientData + `"},"x":` + deep + `}`,
		"R-522 of many values":                `{"id":"AQI","response":{"clientDataJSON":"` + clientData + `"},"x":[0` + strings.Repeat(",0", 600) + `]}`,
		"R-522 client data nested":            `{"id":"AQI","response":{"clientDataJSON":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"challenge":"c","x":`+deep+`}`)) + `"}}`,
		"R-522 an id of more than 1023 bytes": `{"id":"` + strings.Repeat("AAAA", 342) + `","response":{"clientDataJSON":"` + clientData + `"}}`,
	} {
		if _, _, err := answeredChallenge([]byte(bad)); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
	for _, bad := range []string{
		``, `null`, `[]`, `{}`, `{"id":""}`, `{"id":"AQI="}`, `{"id":"AQI"}`, `{"id":"AQI","response":{"clientDataJSON":"!"}}`,
		`{"id":"AQI","response":{"clientDataJSON":"` + base64.RawURLEncoding.EncodeToString([]byte(`[]`)) + `"}}`,
	} {
		if c, _, err := answeredChallenge([]byte(bad)); err == nil && c != "" {
			t.Errorf("%s was taken for an answer to %q", bad, c)
		}
	}
}

// FuzzAnsweredChallenge: whatever a browser posts, nothing panics, and no answer
// without a credential is taken.
func FuzzAnsweredChallenge(f *testing.F) {
	f.Add([]byte(`{"id":"AQI","response":{"clientDataJSON":"eyJjaGFsbGVuZ2UiOiJjIn0"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if _, id, err := answeredChallenge(answer); err == nil && len(id) == 0 {
			t.Errorf("%q has no credential", answer)
		}
	})
}

// What a browser can be told of a user's passkeys names no passkey that the user
// does not have.
func TestPasskeyNews(t *testing.T) {
	party, ada := &passkey.RelyingParty{ID: "shop.example"}, &User{ID: "1", Name: "Ada", Email: "ada@example.com"}
	keys := []storage.Authenticator{{CredentialID: []byte{1}, UserHandle: []byte{9}}, {CredentialID: []byte{2}, UserHandle: []byte{9}}}
	if told := news(party, ada, keys, nil, ""); told != "" {
		t.Errorf("news of nothing: %s", told)
	}
	told := news(party, ada, keys, keys[0].UserHandle, "gone")
	for _, want := range []string{`"rpId":"shop.example"`, `"credentialId":"gone"`, `"allAcceptedCredentialIds":["AQ","Ag"]`, `"displayName":"Ada"`} {
		if !strings.Contains(told, want) {
			t.Errorf("%s lacks %s", told, want)
		}
	}
	if handle := handleOf(keys); !slices.Equal(handle, []byte{9}) {
		t.Errorf("another handle for the same user: %x", handle)
	}
}

// texts of a new passkey have a maximum, whatever the Ceremony returns.
func TestIsBounded(t *testing.T) {
	long := strings.Repeat("x", 65)
	for name, key := range map[string]storage.Authenticator{
		"a long name": {Name: long}, "a long model": {AAGUID: long}, "a long device type": {DeviceType: long},
		"a long transport": {Transports: []string{long}}, "nine transports": {Transports: make([]string, 9)},
	} {
		if isBounded(&key) {
			t.Errorf("R-523 %s is stored", name)
		}
	}
	if whole := (storage.Authenticator{Name: long[1:], Transports: make([]string, 8)}); !isBounded(&whole) {
		t.Error("R-523 a passkey at its limits is refused")
	}
}
