package storagetest

import (
	"hash/crc32"
	"reflect"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// filled returns a record with something in every field, by reflection, so that a store
// that loses one is noticed. set replaces what has to have a form of its own.
func filled[T any](set func(*T)) T {
	var record T
	fillField(reflect.ValueOf(&record).Elem(), "")
	set(&record)
	return record
}

// fillField sets v, and the fields and elements in it, to values made from name. It
// leaves pointers nil, and panics for a kind that it does not know.
func fillField(v reflect.Value, name string) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = instant.Truncate(time.Second).Add(-time.Duration(crc32.ChecksumIEEE([]byte(name))%1_000_000) * time.Second)
		return
	case *[]byte:
		*at = append([]byte(name), 0, 0xff)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("some " + name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32:
		v.SetUint(7)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Int64:
		v.SetInt(int64(time.Hour))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{strings.ToLower(name): "some " + name}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fillField(v.Index(i), name)
		}
	case reflect.Pointer: // an optional part, which has promises of its own
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fillField(v.Field(i), f.Name)
			}
		}
	default:
		panic("storagetest: there is no sample of a " + v.Type().String())
	}
}

// filledUser returns a user as a provider may describe one, with an e-mail address.
func filledUser(email string) storage.User {
	return filled(func(u *storage.User) {
		u.ID, u.Email, u.Extra = "", email, nil
		u.Created, u.Provisioned = time.Time{}, time.Time{} // optional, with promises of their own
	})
}

// filledSession returns a session with something in every field.
func filledSession(u storage.User, token string) storage.StoredSession {
	return filled(func(s *storage.StoredSession) {
		s.ID, s.Token, s.UserID = "", token, u.ID
		s.Expires, s.Created, s.Proved = instant, instant.Add(-time.Hour), instant.Add(-time.Minute)
		s.ProviderSID, s.ProviderSub, s.ProviderIssued = strings.Repeat("5", 64), strings.Repeat("f", 64), instant.Add(-2*time.Hour)
		s.Sealed, s.AMR = strings.Repeat("e.", 10<<10), []string{"pwd", "otp", "mfa"}
	})
}

// filledTokens returns tokens with something in every field but three: ExpiresIn, which a
// store need not keep, and AuthorizationDetails and Extra, which openAccount has.
func filledTokens() storage.Tokens {
	return filled(func(t *storage.Tokens) {
		t.AccessToken, t.IDToken = strings.Repeat("a.B-_~+/=", 1200), strings.Repeat("e", 10<<10)
		t.RefreshToken = "r" + unicode[2]
		t.ExpiresIn, t.AuthorizationDetails, t.Extra = 0, nil, nil
	})
}

// filledAuthenticator returns a passkey with something in every field.
func filledAuthenticator(u storage.User, id []byte) storage.Authenticator {
	return filled(func(k *storage.Authenticator) {
		k.CredentialID, k.UserID, k.DeviceType, k.AAGUID = id, u.ID, "multiDevice", "d8522d9f-575b-4866-88a9-ba99fa02f35b"
		k.Transports = []string{"internal", "hybrid"}
	})
}

// filledFactor returns a second factor with something in every field.
func filledFactor(u storage.User, id string) storage.Factor {
	return filled(func(f *storage.Factor) {
		f.ID, f.UserID, f.Kind, f.Secret, f.Step = id, u.ID, storage.FactorTOTP, strings.Repeat("e.", 1<<10), 1<<33
	})
}

// filledChallenge returns a challenge with something in every field. It expires in the
// future, so that no engine removes it.
func filledChallenge(id string) storage.Challenge {
	return filled(func(c *storage.Challenge) {
		c.ID, c.Purpose, c.UserID, c.Identifier = id, "signin", "no user yet", "ada@example.com"
		c.Expires, c.Data, c.Tries = instant, strings.Repeat("e.B-_", 256<<10/5), 0
	})
}

// filledBrowser returns a browser with something in every field. It expires in the
// future.
func filledBrowser(u storage.User, id string) storage.Browser {
	return filled(func(b *storage.Browser) {
		b.ID, b.UserID, b.PublicID, b.Expires = id, u.ID, "public "+id+" of "+u.ID, instant
	})
}

// filledPassword returns a password with something in every field.
func filledPassword(u storage.User) storage.PasswordHash {
	return filled(func(p *storage.PasswordHash) {
		p.UserID, p.Hash = u.ID, "$argon2id$v=19$m=19456,t=2,p=1$"+strings.Repeat("aB+/", 6)+"$"+strings.Repeat("cD+/", 12)
	})
}
