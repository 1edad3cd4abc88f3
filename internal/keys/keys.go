// Package keys makes the keys of what limiters, replay stores and revocation
// stores keep. Several sites and tenants may share such a store, so a key names
// exactly what it protects.
package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sync"
)

// Kind is what a key is for. Keys of two kinds are never equal.
type Kind string

// The kinds of keys.
const (
	TriesOfAccount   Kind = "tries of account"       // a provider's id and a folded name
	TriesOfBrowser   Kind = "tries of browser"       // the id of a known browser
	TriesOfClient    Kind = "tries of client"        // a network
	TriesOfUser      Kind = "tries of user"          // a user's id, or "" and a mailbox
	TriesOfUserHere  Kind = "tries of user here"     // a user's id, and the id of a known browser
	PasswordRequests Kind = "password requests"      // a network
	MailsToMailbox   Kind = "mails to mailbox"       // an e-mail address
	NoticesToMailbox Kind = "notices to mailbox"     // an e-mail address and the kind of notice
	MailsOfBrowser   Kind = "mails of browser"       // the id of a known browser
	MailsOfClient    Kind = "mails of client"        // a network
	LinksOfMailbox   Kind = "links of mailbox"       // a folded e-mail address
	LinksOfBrowser   Kind = "links of browser"       // the id of a known browser
	LinkOfBrowser    Kind = "link of browser"        // the hash of the link that a browser asked for
	WrongCodes       Kind = "wrong codes"            // a folded e-mail address
	WrongCodesHere   Kind = "wrong codes of browser" // the id of a known browser
	CodesToMailbox   Kind = "codes to mailbox"       // an e-mail address
	PasskeyQuestions Kind = "passkey questions"      // a network
	PasskeyAnswers   Kind = "passkey answers"        // a network
	KnownUser        Kind = "known user"             // a user's id
	KnownForm        Kind = "known form"             // a provider's id, and the fields that were typed
	UsedValue        Kind = "used value"             // what the value is for, and the value
	FactorsOfUser    Kind = "factors of user"        // a user's id
	FactorsInADay    Kind = "factors in a day"       // a user's id
	FactorsOfBrowser Kind = "factors of browser"     // a user's id, and the public id of a known browser
	RecoveryOfUser   Kind = "recovery of user"       // a user's id
	SessionPage      Kind = "session page"           // the ids of a user and a session
	RevokedSignIn    Kind = "revoked sign-in"        // the id of a sign-in or of a token
	RevokedUser      Kind = "revoked user"           // a user's id
	RevokedThere     Kind = "revoked there"          // the name of a session or a user at a provider
	RevokedTokens    Kind = "revoked tokens"         // the id of a provider, and of an account there
	ProviderSession  Kind = "provider session"       // an issuer, a client id, and a sid
	ProviderSubject  Kind = "provider subject"       // an issuer, a client id, and a sub
	ExportsOfUser    Kind = "exports of user"        // a user's id
	ChangesForUser   Kind = "changes for user"       // a user's id
	NewestCode       Kind = "newest code"            // an e-mail address
)

// Keys makes the keys of one configuration. Keys of two tenants or sites are never equal, nor
// are keys under two secrets, but Lasting uses no secret. The zero Keys have no secret, tenant
// or site. They are for what an adapter keeps of its users, who are the same for every
// configuration. Keys are safe for concurrent use.
type Keys struct {
	secrets []*secret // the one in use first
	tenant  string
	site    string
}

// New returns the keys of a configuration. secrets has the secret in use first,
// and then older ones. tenant is empty if there is one site. site is the origin of
// the site, or empty if requests say what it is.
func New(secrets []string, tenant, site string) *Keys {
	k := &Keys{tenant: tenant, site: site}
	for _, text := range secrets {
		k.secrets = append(k.secrets, newSecret(text))
	}
	return k
}

// Of returns the key of what the parts name, under the secret in use. It has 64 characters
// and tells a reader nothing about the parts. Without secrets a reader can guess the parts.
func (k *Keys) Of(kind Kind, parts ...string) string {
	if len(k.secrets) == 0 {
		return k.under(newSecret(""), kind, parts)
	}
	return k.under(k.secrets[0], kind, parts)
}

// All returns the key under each secret, the one in use first. While a secret is
// replaced, another instance may know only the older one: what must be found by
// every instance is written and read under all.
func (k *Keys) All(kind Kind, parts ...string) []string {
	if len(k.secrets) < 2 {
		return []string{k.Of(kind, parts...)}
	}
	all := make([]string, len(k.secrets))
	for i, secret := range k.secrets {
		all[i] = k.under(secret, kind, parts)
	}
	return all
}

// Lasting returns a key that depends on the tenant and the site but on no secret, for
// what outlives every secret. A reader of the key can guess the parts and tell that
// they are right.
func (k *Keys) Lasting(kind Kind, parts ...string) string {
	return k.under(newSecret(""), kind, parts)
}

// AnySite returns keys with the secrets and the tenant of k, for a configuration that
// does not say which site it is.
func (k *Keys) AnySite() *Keys { return &Keys{k.secrets, k.tenant, ""} }

// NamesSite reports whether the keys are those of one site.
func (k *Keys) NamesSite() bool { return k.site != "" }

// secret makes HMACs of one secret.
type secret struct {
	key  [sha256.Size]byte
	macs sync.Pool // of *macRoom, which cost more to make than a key does
}

// macRoom is what one HMAC is made with.
type macRoom struct {
	mac     hash.Hash
	message []byte
	sum     [sha256.Size]byte
	text    [2 * sha256.Size]byte
}

// newSecret returns the secret of a text. HMAC alone would take "s" and "s\x00" for one.
func newSecret(text string) *secret { return &secret{key: sha256.Sum256([]byte(text))} }

// room returns a macRoom, new or used. The caller resets its mac and cuts its message
// before it uses them, and puts the room into s.macs again.
func (s *secret) room() *macRoom {
	if room, kept := s.macs.Get().(*macRoom); kept {
		return room
	}
	return &macRoom{mac: hmac.New(sha256.New, s.key[:])}
}

// under returns the HMAC of everything that a key names. Each text is preceded by
// its length, so that no two lists of texts are written alike.
func (k *Keys) under(s *secret, kind Kind, parts []string) string {
	room := s.room()
	defer s.macs.Put(room)
	named := append(room.message[:0], "latchkey key"...)
	for _, text := range [...]string{string(kind), k.tenant, k.site} {
		named = appendText(named, text)
	}
	for _, text := range parts {
		named = appendText(named, text)
	}
	room.message = named
	room.mac.Reset()
	room.mac.Write(named)
	hex.Encode(room.text[:], room.mac.Sum(room.sum[:0]))
	return string(room.text[:])
}

// appendText appends the length of a text and the text.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
