// Package passkeys makes user handles that the site recognises later, and the lists
// of credential ids that an unauthenticated client gets, which do not say whether
// they are real.
package passkeys

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	randomLen = 16 // bytes of a handle that are random; the rest are their MAC
	handleLen = 32
)

// NewHandle returns a new user handle (Web Authentication Level 3, section 5.4.3).
// It says nothing about the user. The scope names the site that makes it: relying
// party, URL and tenant. Sites that share a relying party differ in it, so that none
// of them takes the passkeys of another for its own.
func NewHandle(key, scope string) []byte {
	handle := make([]byte, randomLen, handleLen)
	rand.Read(handle) // never fails
	return append(handle, handleMAC(key, scope, handle)...)
}

// IsHandle reports whether NewHandle made the handle for the scope, under one of
// the keys.
func IsHandle(handle []byte, keys []string, scope string) bool {
	if len(handle) != handleLen {
		return false
	}
	random, mac := handle[:randomLen], handle[randomLen:]
	return slices.ContainsFunc(keys, func(key string) bool { return hmac.Equal(mac, handleMAC(key, scope, random)) })
}

// handleMAC returns the MAC that follows the random bytes of a handle.
func handleMAC(key, scope string, random []byte) []byte {
	return sum(key, "passkey handle", scope, random)[:handleLen-randomLen]
}

// Blend returns the credential ids that an unauthenticated client gets for a name, such
// as an e-mail address: ids, which are those of the user, and made-up ones. Made-up ids
// are added only until the list has as many as the name would have without passkeys.
// The number and the lengths of made-up ids are drawn from what authenticators make,
// and they are always the same for a name. So neither the number, a length, the order
// nor a second look says whether the name has passkeys (section 14.6.2). Blend does not
// change ids.
func Blend(key, name string, ids [][]byte) [][]byte {
	list := slices.Clone(ids)
	for i, most := 0, decoys(key, name); len(list) < most; i++ {
		list = append(list, decoy(key, name, i))
	}
	slices.SortFunc(list, bytes.Compare)
	return list
}

// decoys returns how many ids a name without passkeys has: one for half of the
// names, two for a quarter, and so on.
func decoys(key, name string) int {
	drawn := binary.BigEndian.Uint64(sum(key, "passkey decoys", name, nil))
	return 1 + bits.LeadingZeros64(drawn)
}

// lengths are those of credential ids in bytes, as often as they are met. 0 stands
// for any length.
var lengths = [16]int{16, 16, 16, 16, 20, 20, 20, 20, 32, 32, 32, 32, 64, 64, 48, 0}

const (
	shortestID = 16
	longestID  = 1023
)

// decoy returns the made-up id number i of a name, which is always the same.
func decoy(key, name string, i int) []byte {
	seed := sum(key, "passkey decoy", name, []byte{byte(i)})
	length := lengths[seed[0]%byte(len(lengths))]
	if length == 0 {
		length = shortestID + int(binary.BigEndian.Uint16(seed[1:]))%(longestID-shortestID+1)
	}
	var id []byte
	for block := byte(0); len(id) < length; block++ {
		id = append(id, sum(key, "passkey decoy id", name, []byte{byte(i), block})...)
	}
	return id[:length]
}

// sum returns a MAC of a text for one purpose. The length of the text goes first, so
// that no two inputs are the same bytes.
func sum(key, purpose, text string, more []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(purpose))
	mac.Write(binary.BigEndian.AppendUint64([]byte{0}, uint64(len(text))))
	mac.Write([]byte(text))
	mac.Write(more)
	return mac.Sum(nil)
}
