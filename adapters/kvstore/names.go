package kvstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

func keyOfUser(id string) Key     { return Key{KindUser, nameOf(id)} }
func keyOfEmail(email string) Key { return Key{KindEmail, hash(email)} }

// keyOfSession returns a key with 144 bits of the hash. Only the site chooses tokens, so
// an attacker cannot search for a collision, and a short key saves room: a store has
// more sessions than anything else.
func keyOfSession(token string) Key { return Key{KindSession, hash(token)[:24]} }

func keyOfAccount(provider, id string) Key   { return Key{KindAccount, hash(provider, id)} }
func keyOfSignUp(provider, id string) Key    { return Key{KindSignUp, hash(provider, id)} }
func keyOfLink(identifier, token string) Key { return Key{KindLink, hash(identifier, token)} }
func keyOfAuthenticator(credentialID []byte) Key {
	return Key{KindAuthenticator, hash(string(credentialID))}
}

func keyOfRevocation(key string) Key { return Key{KindRevocation, hash(key)} }
func keyOfUsed(key string) Key       { return Key{KindUsed, hash(key)} }
func keyOfLease(key string) Key      { return Key{KindLease, hash(key)} }
func keyOfLimit(key string) Key      { return Key{KindLimit, nameOf(key)} }

// nameOf returns a text of 1 to 64 characters among A–Z, a–z, 0–9, "-" and "_" as it is,
// so that an operator can find a user in the store. For any other text it returns "="
// and the hash of the text; no text that is kept as it is begins so.
func nameOf(text string) string {
	if text == "" || len(text) > 64 {
		return "=" + hash(text)
	}
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return "=" + hash(text)
		}
	}
	return text
}

// random returns n random bytes in base64url. A multiple of three leaves no bits of the
// text unused.
func random(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

// hash returns the SHA-256 of the parts in base64url. It hashes a single part as it is.
// Each of several parts has its length in front, so that "a" and "bc" differ from "ab"
// and "c". There must be a part.
func hash(parts ...string) string {
	text := parts[0]
	if len(parts) > 1 {
		text = ""
		for _, part := range parts {
			text += strconv.Itoa(len(part)) + ":" + part
		}
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
