package webauthn_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/passkey"
)

// The negative cases of the FIDO Alliance's server conformance tests, by their
// numbers there: Att-n is class ServerAuthenticatorAttestationResponse-Resp-n,
// and Ass-n is ServerAuthenticatorAssertionResponse-Resp-n.

// fault is one case.
type fault struct {
	name string
	do   bad
}

// member spoils a member of the credential.
func member(f func(members map[string]any)) bad {
	return bad{Credential: func(members, _ map[string]any) { f(members) }}
}

// answered spoils a member of the credential's response.
func answered(f func(response map[string]any)) bad {
	return bad{Credential: func(_, response map[string]any) { f(response) }}
}

func said(name string, value any) bad {
	return bad{ClientData: func(members map[string]any) { members[name] = value }}
}

func unsaid(name string) bad {
	return bad{ClientData: func(members map[string]any) { delete(members, name) }}
}

func data(f func(d *latchkeytest.AuthenticatorData)) bad { return bad{AuthenticatorData: f} }

func attestation(f func(object map[string]any)) bad { return bad{Attestation: f} }

// statement spoils the statement of packed attestation.
func statement(f func(s map[string]any)) bad {
	return attestation(func(object map[string]any) { f(object["attStmt"].(map[string]any)) })
}

// base64Faults are encodings that are not base64url without padding.
func notBase64URL(name string) []fault {
	spoil := func(f func(text string) string) bad {
		return answered(func(response map[string]any) { response[name] = f(response[name].(string)) })
	}
	return []fault{
		{"padding", spoil(func(text string) string { return text + "=" })},
		{"line feed", spoil(func(text string) string { return text[:4] + "\n" + text[4:] })},
		{"no such letter", spoil(func(text string) string { return "+" + text[1:] })},
		{"half a byte", spoil(func(text string) string { return text + "A" })},
	}
}

// withSpareBit sets a bit of the last letter that stands for no byte, in texts
// that have one: those of 32 or 37 bytes do.
func withSpareBit(text string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(letters, text[len(text)-1])
	return text[:len(text)-1] + letters[last|1:last|1+1]
}

// structure is Att-1 and Ass-1 as far as they are the same.
func structure(class, r string) []fault {
	all := []fault{
		{"F-1 no id", member(func(m map[string]any) { delete(m, "id") })},
		{"F-2 id is a number", member(func(m map[string]any) { m["id"] = 7 })},
		{"F-2 id is null", member(func(m map[string]any) { m["id"] = nil })},
		{"F-2 id is an object", member(func(m map[string]any) { m["id"] = map[string]any{} })},
		{"F-3 id is not base64url", member(func(m map[string]any) { m["id"] = "!" + m["id"].(string) })},
		{"F-3 id has padding", member(func(m map[string]any) { m["id"] = m["id"].(string) + "=" })},
		{"F-3 id is standard base64", member(func(m map[string]any) { m["id"] = "++//" })},
		{"F-3 id has bits left over", member(func(m map[string]any) { m["id"] = withSpareBit(m["id"].(string)) })},
		{"F-3 id is empty", member(func(m map[string]any) { m["id"] = "" })},
		{"no rawId", member(func(m map[string]any) { delete(m, "rawId") })},
		{"rawId is a number", member(func(m map[string]any) { m["rawId"] = 7 })},
		{"rawId has bits left over", member(func(m map[string]any) { m["rawId"] = withSpareBit(m["rawId"].(string)) })},
		{"rawId is another", member(func(m map[string]any) { m["rawId"] = "AAAA" })},
		{"F-4 no type", member(func(m map[string]any) { delete(m, "type") })},
		{"F-5 type is a number", member(func(m map[string]any) { m["type"] = 7 })},
		{"F-6 type is another", member(func(m map[string]any) { m["type"] = "password" })},
		{"F-6 type is empty", member(func(m map[string]any) { m["type"] = "" })},
		{"F-7 no response", member(func(m map[string]any) { delete(m, "response") })},
		{"F-8 response is text", member(func(m map[string]any) { m["response"] = "text" })},
		{"F-8 response is a list", member(func(m map[string]any) { m["response"] = []any{} })},
		{"F-8 response is null", member(func(m map[string]any) { m["response"] = nil })},
		{"F-9 no clientDataJSON", answered(func(m map[string]any) { delete(m, "clientDataJSON") })},
		{"F-10 clientDataJSON is a number", answered(func(m map[string]any) { m["clientDataJSON"] = 7 })},
		{"F-10 clientDataJSON is an object", answered(func(m map[string]any) { m["clientDataJSON"] = map[string]any{} })},
		{"F-11 clientDataJSON is empty", answered(func(m map[string]any) { m["clientDataJSON"] = "" })},
	}
	for _, f := range notBase64URL("clientDataJSON") {
		all = append(all, fault{"clientDataJSON: " + f.name, f.do})
	}
	return named(class, r, all)
}

// named puts the class and the requirement before the names.
func named(class, r string, all []fault) []fault {
	for i := range all {
		all[i].name = r + " " + class + " " + all[i].name
	}
	return all
}

// clientData is Att-2 and Ass-2. kind is the type that is right, other the one
// of the other ceremony.
func clientData(class, kind, other string) []fault {
	var (
		types = []fault{
			{"F-1 no type", unsaid("type")},
			{"F-2 type is a number", said("type", 7)},
			{"F-2 type is null", said("type", nil)},
			{"F-3 type is empty", said("type", "")},
			{"F-4 type is another", said("type", "webauthn.other")},
			{"F-4 type in capitals", said("type", "WebAuthn"+kind[len("webauthn"):])},
			{"F-5 type of the other ceremony", said("type", other)},
			{"type of a payment", said("type", "payment.get")},
			{"a name in capitals", bad{ClientData: func(m map[string]any) { m["Type"] = m["type"]; delete(m, "type") }}},
		}
		challenges = []fault{
			{"F-6 no challenge", unsaid("challenge")},
			{"F-7 challenge is a number", said("challenge", 7)},
			{"F-7 challenge is null", said("challenge", nil)},
			{"F-7 challenge is a list", said("challenge", []any{})},
			{"F-8 challenge is empty", said("challenge", "")},
			{"F-9 challenge has padding", bad{ClientData: func(m map[string]any) { m["challenge"] = m["challenge"].(string) + "=" }}},
			{"F-9 challenge is encoded twice", bad{ClientData: func(m map[string]any) {
				m["challenge"] = base64.RawURLEncoding.EncodeToString([]byte(m["challenge"].(string)))
			}}},
			{"F-9 challenge is not base64url", bad{ClientData: func(m map[string]any) { m["challenge"] = m["challenge"].(string) + "\n" }}},
			{"F-10 another challenge", said("challenge", base64.RawURLEncoding.EncodeToString(make([]byte, 32)))},
			{"F-10 a part of it", bad{ClientData: func(m map[string]any) { m["challenge"] = m["challenge"].(string)[:42] }}},
		}
		origins = []fault{
			{"F-11 no origin", unsaid("origin")},
			{"F-12 origin is a number", said("origin", 7)},
			{"F-12 origin is null", said("origin", nil)},
			{"F-12 origin is a list", bad{ClientData: func(m map[string]any) { m["origin"] = []any{m["origin"]} }}},
			{"F-13 origin is empty", said("origin", "")},
		}
		bindings = []fault{
			{"F-15 tokenBinding is text", said("tokenBinding", "present")},
			{"F-15 tokenBinding is a list", said("tokenBinding", []any{})},
			{"F-16 tokenBinding has no status", said("tokenBinding", map[string]any{"id": "AAAA"})},
			{"F-17 tokenBinding has another status", said("tokenBinding", map[string]any{"status": "bound"})},
			{"F-17 tokenBinding has a number for a status", said("tokenBinding", map[string]any{"status": 1})},
		}
		texts = []fault{
			{"no JSON", bad{RawClientData: func(b []byte) []byte { return b[1:] }}},
			{"two of JSON", bad{RawClientData: func(b []byte) []byte { return append(b, b...) }}},
			{"a list", bad{RawClientData: func(b []byte) []byte { return append(append([]byte("["), b...), ']') }}},
			{"no UTF-8", bad{RawClientData: func(b []byte) []byte { return append(b[:len(b)-1], []byte(",\"x\":\"\xff\"}")...) }}},
		}
	)
	for _, f := range []struct{ name, origin string }{
		{"another site", "https://evil.example"},
		{"the site as a label of another", "https://example.org.evil.example"},
		{"another that ends alike", "https://badexample.org"},
		{"a sub-domain", "https://a.example.org"},
		{"another scheme", "http://example.org"},
		{"another port", "https://example.org:444"},
		{"the port that goes without saying", "https://example.org:443"},
		{"a trailing slash", "https://example.org/"},
		{"a path", "https://example.org/auth"},
		{"capitals", "https://EXAMPLE.org"},
		{"a scheme in capitals", "HTTPS://example.org"},
		{"a user", "https://example.org@evil.example"},
		{"a trailing dot", "https://example.org."},
		{"a space", " https://example.org"},
		{"a line feed", "https://example.org\n"},
		{"the RP ID", "example.org"},
		{"the word null", "null"},
		{"an app", "android:apk-key-hash:AAAA"},
	} {
		origins = append(origins, fault{"F-14 origin is " + f.name, said("origin", f.origin)})
	}
	origins = append(origins, fault{"in a frame of another site", said("crossOrigin", true)}, fault{"with a topOrigin", said("topOrigin", "https://evil.example")})
	malformed := "R-176"
	if class == "Att-2" {
		malformed = "R-177"
	}
	all := append(named(class, "R-164", types), named(class, "R-162", challenges)...)
	all = append(append(all, named(class, "R-166", origins)...), named(class, malformed, bindings)...)
	return append(all, named(class, malformed, texts)...)
}

// attestationFaults are Att-1 and Att-3.
func attestationFaults() []fault {
	all := structure("Att-1", "R-177")
	part := []fault{
		{"F-12 no attestationObject", answered(func(m map[string]any) { delete(m, "attestationObject") })},
		{"F-13 attestationObject is a number", answered(func(m map[string]any) { m["attestationObject"] = 7 })},
		{"F-13 attestationObject is null", answered(func(m map[string]any) { m["attestationObject"] = nil })},
		{"F-14 attestationObject is empty", answered(func(m map[string]any) { m["attestationObject"] = "" })},
	}
	for _, f := range notBase64URL("attestationObject") {
		part = append(part, fault{"attestationObject: " + f.name, f.do})
	}
	all = append(all, named("Att-1", "R-177", part)...)
	return append(all, named("Att-3", "R-177", []fault{
		{"F-1 no CBOR", bad{RawAttestation: func([]byte) []byte { return []byte{0xff} }}},
		{"F-1 CBOR of text", bad{RawAttestation: func([]byte) []byte { return []byte("\x64text") }}},
		{"F-1 CBOR of a list", bad{RawAttestation: func([]byte) []byte { return []byte{0x80} }}},
		{"F-1 an empty map", bad{RawAttestation: func([]byte) []byte { return []byte{0xa0} }}},
		{"F-1 cut off", bad{RawAttestation: func(b []byte) []byte { return b[:len(b)-1] }}},
		{"F-1 bytes behind it", bad{RawAttestation: func(b []byte) []byte { return append(b, 0) }}},
		{"F-1 a length of 2^63", bad{RawAttestation: func([]byte) []byte { return []byte("\xbb\x7f\xff\xff\xff\xff\xff\xff\xff") }}},
		{"F-1 a length that never ends", bad{RawAttestation: func(b []byte) []byte { return append([]byte{0xbf}, b[1:]...) }}},
		{"F-1 a member twice", bad{RawAttestation: func(b []byte) []byte { return append(append([]byte{0xa4}, b[1:]...), []byte("\x63fmt\x64none")...) }}},
		{"F-1 nested a thousand times", attestation(func(o map[string]any) {
			var deep any = "x"
			for range 1000 {
				deep = []any{deep}
			}
			o["attStmt"] = map[string]any{"x": deep}
		})},
		{"F-1 a member more", attestation(func(o map[string]any) { o["more"] = 1 })},
		{"F-2 no fmt", attestation(func(o map[string]any) { delete(o, "fmt") })},
		{"F-3 fmt is a number", attestation(func(o map[string]any) { o["fmt"] = 7 })},
		{"F-3 fmt is bytes", attestation(func(o map[string]any) { o["fmt"] = []byte("packed") })},
		{"F-3 fmt is unknown", attestation(func(o map[string]any) { o["fmt"] = "wax seal" })},
		{"F-4 no attStmt", attestation(func(o map[string]any) { delete(o, "attStmt") })},
		{"F-5 attStmt is text", attestation(func(o map[string]any) { o["attStmt"] = "text" })},
		{"F-5 attStmt is a list", attestation(func(o map[string]any) { o["attStmt"] = []any{} })},
		{"F-5 attStmt is null", attestation(func(o map[string]any) { o["attStmt"] = nil })},
		{"F-6 no authData", attestation(func(o map[string]any) { delete(o, "authData") })},
		{"F-7 authData is text", attestation(func(o map[string]any) { o["authData"] = string(o["authData"].([]byte)) })},
		{"F-7 authData is null", attestation(func(o map[string]any) { o["authData"] = nil })},
		{"F-8 authData is empty", attestation(func(o map[string]any) { o["authData"] = []byte{} })},
		{"F-9 AT is not set", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagAttestedData })},
		{"F-9 AT is not set, ED is", data(func(d *latchkeytest.AuthenticatorData) {
			d.Flags = d.Flags&^latchkeytest.FlagAttestedData | latchkeytest.FlagExtensions
		})},
		{"F-10 AT is not set, nothing is there", data(func(d *latchkeytest.AuthenticatorData) {
			d.Flags &^= latchkeytest.FlagAttestedData
			d.CredentialID, d.PublicKey = nil, nil
		})},
		{"F-11 AT is set, nothing is there", data(func(d *latchkeytest.AuthenticatorData) { d.CredentialID, d.PublicKey = nil, nil })},
		{"F-11 no public key", data(func(d *latchkeytest.AuthenticatorData) { d.PublicKey = nil })},
		{"F-11 cut off in the key", bad{RawAuthenticatorData: func(b []byte) []byte { return b[:len(b)-1] }}},
		{"F-11 cut off in the id", bad{RawAuthenticatorData: func(b []byte) []byte { return b[:60] }}},
		{"F-12 bytes behind it", bad{RawAuthenticatorData: func(b []byte) []byte { return append(b, 0) }}},
		{"F-12 extensions without ED", data(func(d *latchkeytest.AuthenticatorData) { d.Extensions = map[string]any{"x": true} })},
		{"ED without extensions", data(func(d *latchkeytest.AuthenticatorData) { d.Flags |= latchkeytest.FlagExtensions })},
		{"BS without BE", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagBackupEligible })},
		{"an id of another than is answered", member(func(m map[string]any) { m["id"], m["rawId"] = "AAAA", "AAAA" })},
		{"an id without a byte", data(func(d *latchkeytest.AuthenticatorData) { d.CredentialID = []byte{} })},
		{"a key without its kind", key(func(k map[int]any) { delete(k, 1) })},
		{"a key of another kind", key(func(k map[int]any) { k[1] = 1 })},
		{"a key without an algorithm", key(func(k map[int]any) { delete(k, 3) })},
		{"a key of an algorithm not asked for", key(func(k map[int]any) { k[3] = -999 })},
		{"a key of another algorithm", key(func(k map[int]any) { k[3] = -257 })},
		{"a key of no curve", key(func(k map[int]any) { k[-1] = 99 })},
		{"a key of another curve", key(func(k map[int]any) { k[-1] = 2 })},
		{"a key off the curve", key(func(k map[int]any) { k[-3].([]byte)[0] ^= 1 })},
		{"a key of one coordinate", key(func(k map[int]any) { delete(k, -3) })},
		{"a key of nulls", key(func(k map[int]any) { k[-2], k[-3] = make([]byte, 32), make([]byte, 32) })},
		{"a short coordinate", key(func(k map[int]any) { k[-2] = k[-2].([]byte)[1:] })},
		{"F-13 packed: nothing stated", statement(func(s map[string]any) { clear(s) })},
		{"F-14 packed: no alg", statement(func(s map[string]any) { delete(s, "alg") })},
		{"F-15 packed: alg is text", statement(func(s map[string]any) { s["alg"] = "ES256" })},
		{"F-16 packed: alg is another", statement(func(s map[string]any) { s["alg"] = -8 })},
		{"F-17 packed: no sig", statement(func(s map[string]any) { delete(s, "sig") })},
		{"F-18 packed: sig is text", statement(func(s map[string]any) { s["sig"] = string(s["sig"].([]byte)) })},
		{"F-19 packed: sig is empty", statement(func(s map[string]any) { s["sig"] = []byte{} })},
		{"packed: sig is damaged", bad{Sign: latchkeytest.SignDamaged}},
		{"packed: sig by another key", bad{Sign: latchkeytest.SignOtherKey}},
		{"packed: x5c is empty", statement(func(s map[string]any) { s["x5c"] = []any{} })},
		{"packed: x5c is text", statement(func(s map[string]any) { s["x5c"] = "text" })},
		{"packed: x5c is no certificate", statement(func(s map[string]any) { s["x5c"] = []any{[]byte("text")} })},
		{"packed: not the certificate's model", bad{RawAuthenticatorData: func(b []byte) []byte { b[37] ^= 1; return b }}},
		{"packed: not the certificate's key", statement(func(s map[string]any) { delete(s, "x5c") })},
		{"packed statement as none", attestation(func(o map[string]any) { o["fmt"] = "none" })},
	})...)
}

func key(f func(map[int]any)) bad {
	return data(func(d *latchkeytest.AuthenticatorData) { f(d.PublicKey) })
}

// assertionFaults are Ass-1 and Ass-3.
func assertionFaults() []fault {
	var bytes, signatures []fault
	for _, f := range notBase64URL("authenticatorData") {
		bytes = append(bytes, fault{"F-14 authenticatorData: " + f.name, f.do})
	}
	for _, f := range notBase64URL("signature") {
		signatures = append(signatures, fault{"F-18 signature: " + f.name, f.do})
	}
	all := structure("Ass-1", "R-176")
	all = append(all, named("Ass-1", "R-176", append(bytes, []fault{
		{"F-12 no authenticatorData", answered(func(m map[string]any) { delete(m, "authenticatorData") })},
		{"F-14 authenticatorData has bits left over", answered(func(m map[string]any) {
			m["authenticatorData"] = withSpareBit(m["authenticatorData"].(string))
		})},
		{"F-13 authenticatorData is a number", answered(func(m map[string]any) { m["authenticatorData"] = 7 })},
		{"F-15 authenticatorData is empty", answered(func(m map[string]any) { m["authenticatorData"] = "" })},
	}...))...)
	all = append(all, named("Ass-1", "R-171", append(signatures, []fault{
		{"F-16 no signature", answered(func(m map[string]any) { delete(m, "signature"); delete(m, "attestationObject") })},
		{"F-17 signature is a number", answered(func(m map[string]any) { m["signature"] = 7 })},
		{"F-17 signature is null", answered(func(m map[string]any) { m["signature"] = nil })},
		{"F-19 signature is empty", bad{Sign: latchkeytest.SignNone}},
		{"F-20 signature is damaged", bad{Sign: latchkeytest.SignDamaged}},
		{"F-20 signature by another key", bad{Sign: latchkeytest.SignOtherKey}},
		{"F-20 signature cut off", bad{Signature: func(b []byte) []byte { return b[:len(b)-1] }}},
		{"F-20 bytes behind the signature", bad{Signature: func(b []byte) []byte { return append(b, 0) }}},
		{"F-20 signature of zeros", bad{Signature: func([]byte) []byte { return []byte{0x30, 6, 2, 1, 0, 2, 1, 0} }}},
	}...))...)
	all = append(all, named("Ass-1", "R-174", []fault{
		{"F-21 userHandle is a number", answered(func(m map[string]any) { m["userHandle"] = 7 })},
		{"F-21 userHandle is an object", answered(func(m map[string]any) { m["userHandle"] = map[string]any{} })},
		{"userHandle has padding", answered(func(m map[string]any) { m["userHandle"] = m["userHandle"].(string) + "=" })},
		{"userHandle is empty", answered(func(m map[string]any) { m["userHandle"] = "" })},
		{"no userHandle", answered(func(m map[string]any) { delete(m, "userHandle") })},
		{"userHandle is null", answered(func(m map[string]any) { m["userHandle"] = nil })},
		{"userHandle of somebody else", answered(func(m map[string]any) { m["userHandle"] = "c29tZWJvZHkgZWxzZQ" })},
	})...)
	return append(all, []fault{
		{"R-176 Ass-3 F-1 bytes behind the data", bad{RawAuthenticatorData: func(b []byte) []byte { return append(b, 0) }}},
		{"R-176 Ass-3 data cut off", bad{RawAuthenticatorData: func(b []byte) []byte { return b[:36] }}},
		{"R-176 Ass-3 ED without extensions", data(func(d *latchkeytest.AuthenticatorData) { d.Flags |= latchkeytest.FlagExtensions })},
		{"R-176 Ass-3 extensions without ED", data(func(d *latchkeytest.AuthenticatorData) { d.Extensions = map[string]any{} })},
		{"R-176 Ass-3 extensions that are no CBOR", bad{RawAuthenticatorData: func(b []byte) []byte { b[32] |= latchkeytest.FlagExtensions; return append(b, 0xff) }}},
		{"R-176 Ass-3 AT without data", data(func(d *latchkeytest.AuthenticatorData) { d.Flags |= latchkeytest.FlagAttestedData })},
		{"R-176 Ass-3 BS without BE", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagBackupEligible })},
		{"R-176 Ass-3 BE was set and is not", data(func(d *latchkeytest.AuthenticatorData) {
			d.Flags &^= latchkeytest.FlagBackupEligible | latchkeytest.FlagBackedUp
		})},
		{"R-168 Ass-3 F-2 hash of another RP ID", data(func(d *latchkeytest.AuthenticatorData) { d.RPIDHash[31] ^= 1 })},
		{"R-168 Ass-3 F-2 hash of zeros", data(func(d *latchkeytest.AuthenticatorData) { clear(d.RPIDHash) })},
		{"R-171 Ass-3 F-3 signed with another client data", answered(func(m map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(m["clientDataJSON"].(string))
			m["clientDataJSON"] = base64.RawURLEncoding.EncodeToString(append(raw, ' '))
		})},
		{"R-171 Ass-3 F-3 signed with other data", answered(func(m map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(m["authenticatorData"].(string))
			raw[36]++
			m["authenticatorData"] = base64.RawURLEncoding.EncodeToString(raw)
		})},
		{"R-169 UP is not set", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserPresent })},
		{"R-169 Ass-3 F-5 UV is not set", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserVerified })},
	}...)
}

// exampleSite has passkeys for https://example.org, wherever it is served.
func exampleSite(t *testing.T) *site {
	t.Helper()
	return newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) {
		p.RelyingParty = func(*latchkey.Request) passkey.RelyingParty { return byTheSpecification() }
		p.Registration.Attestation = "direct"
	})
}

func TestFIDORegistration(t *testing.T) {
	s := exampleSite(t)
	faults := append(attestationFaults(), clientData("Att-2", "webauthn.create", "webauthn.get")...)
	faults = append(
		faults,
		fault{"R-168 hash of another RP ID", data(func(d *latchkeytest.AuthenticatorData) { d.RPIDHash[0] ^= 1 })},
		fault{"R-169 UP is not set", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserPresent })},
		fault{"R-169 UV is not set", data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserVerified })},
		fault{"R-181 an id of 1024 bytes", data(func(d *latchkeytest.AuthenticatorData) { d.CredentialID = make([]byte, 1024) })},
	)
	for _, f := range faults {
		for _, kind := range []string{"self", "none", "basic"} {
			if kind == "none" && strings.Contains(f.name, "packed") || kind != "basic" && strings.Contains(f.name, "certificate's") {
				continue
			}
			t.Run(f.name+", "+kind, func(t *testing.T) {
				a := latchkeytest.NewAuthenticator("https://example.org")
				a.Attestation = kind
				s.refusesRegistration(t, a, f.do)
			})
		}
	}
}

func TestFIDOSignIn(t *testing.T) {
	s := exampleSite(t)
	a := latchkeytest.NewAuthenticator("https://example.org")
	b, _ := s.visit()
	b.RegisterPasskey(a, "ada@example.com")
	for _, f := range append(assertionFaults(), clientData("Ass-2", "webauthn.get", "webauthn.create")...) {
		t.Run(f.name, func(t *testing.T) { s.refusesSignIn(t, a, f.do) })
	}
}
