package latchkey

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// What the claims of a session token say of its user and its sign-in.

// keptClaims are what no callback and no update may set, change or drop.
type keptClaims []keptClaim

// keptClaim is a claim as it was; a nil value: absent, and stays so.
type keptClaim struct {
	name  string
	value any
}

// with returns k with the named claims of c.
func (k keptClaims) with(c Claims, names ...string) keptClaims {
	for _, name := range names {
		k = append(k, keptClaim{name, c[name]})
	}
	return k
}

// holds reports whether a claim of c is as it was. It returns true for one that k lacks.
func (k keptClaims) holds(c Claims, name string) bool {
	i := slices.IndexFunc(k, func(was keptClaim) bool { return was.name == name })
	return i < 0 || reflect.DeepEqual(k[i].value, c[name])
}

// putBack returns c with the claims as they were. It does not change the map c, which a
// callback returned and which may be shared: it copies c if a claim differs.
func (k keptClaims) putBack(c Claims) Claims {
	copied := false
	for _, was := range k {
		if reflect.DeepEqual(was.value, c[was.name]) {
			continue
		}
		if !copied {
			c, copied = maps.Clone(c), true
		}
		if was.value == nil {
			delete(c, was.name)
			continue
		}
		c[was.name] = was.value
	}
	return c
}

// readMembers reads what the claims of a session token say into s, and what they
// say of its user into said. Neither keeps the members. It returns the sign-in
// that the token comes from.
func readMembers(s *Session, said *jwtclaims.Said, members []jsonscan.Member) (from directory.TokenOrigin) {
	s.said = said
	for _, m := range members {
		switch string(m.Key) {
		case "name":
			s.User.Name, said.Name = readText(m)
		case "email":
			s.User.Email, said.Email = readText(m)
		case "picture":
			s.User.Image, said.Image = readText(m)
		case jwtclaims.Subject:
			s.UserID = memberText(m)
		case jwtclaims.Tenant:
			s.Tenant = memberText(m)
		case jwtclaims.SessionID:
			s.ID = memberText(m)
		case jwtclaims.StoreID:
			from.UserID = memberText(m)
		}
	}
	s.User.setKnown()
	s.signedInAt(jwtclaims.Time(members, jwtclaims.AuthTime))
	from.SessionID, from.UserID, from.Subject, from.Began = s.ID, cmp.Or(from.UserID, s.UserID), s.UserID, s.AuthTime
	return from
}

// readText returns the text of m, and the JSON of m if that is empty or no text, else null.
func readText(m jsonscan.Member) (text string, raw []byte) {
	text, ok := m.Text()
	switch {
	case text != "":
		return text, wirejson.Null
	case ok:
		return "", emptyText
	}
	return "", bytes.Clone(m.Raw)
}

// trackMembers does for readPlain what track does: it completes s, from and members, and
// returns members.
func trackMembers(s *Session, members []jsonscan.Member, from *directory.TokenOrigin) []jsonscan.Member {
	if s.ID == "" || s.AuthTime.IsZero() {
		id := s.ID
		if jti, ok := jsonscan.Lookup(members, "jti"); ok && id == "" {
			id = memberText(jsonscan.Member{Raw: jti})
		}
		s.ID = jwtclaims.AdoptedID(cmp.Or(id, secret.RandomHex(16)))
		if id != "" { // else nothing can have revoked it
			from.SessionID = s.ID
		}
		members = jsonscan.Set(members, jwtclaims.SessionID, jsonscan.AppendText(nil, s.ID))
	}
	if began, ok := jwtclaims.Time(members, "iat"); ok && s.AuthTime.IsZero() {
		from.Began = began
		s.signedInAt(began, true)
		members = jsonscan.Set(members, jwtclaims.AuthTime, []byte(jwtclaims.UnixSeconds(began)))
	}
	return members
}

// memberText returns the text of a member as Claims.String does.
func memberText(m jsonscan.Member) string {
	if text, ok := m.Text(); ok {
		return text
	}
	return Claims{"": json.Number(m.Raw)}.String("")
}

// signedInAt sets AuthTime and Proved to the time of the sign-in, if it is known.
func (s *Session) signedInAt(t time.Time, known bool) {
	if known {
		s.AuthTime, s.Proved = t.UTC(), t.UTC()
	}
}

// userFromClaims returns the user that claims describe, and what they say in the fields that
// are empty. A claim of the user that cannot be written as JSON is an error.
func userFromClaims(c Claims) (u SessionUser, said *jwtclaims.Said, err error) {
	said = &jwtclaims.Said{}
	for _, f := range []struct {
		key  string
		text *string
		raw  *[]byte
	}{{"name", &u.Name, &said.Name}, {"email", &u.Email, &said.Email}, {"picture", &u.Image, &said.Image}} {
		value, ok := c[f.key]
		if !ok {
			continue
		}
		switch v := value.(type) {
		case string:
			*f.text, *f.raw = v, emptyText
		case nil:
			*f.raw = wirejson.Null
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				return u, said, errors.New("latchkey: claim " + f.key + " cannot be written as JSON")
			}
			*f.raw = raw
		}
	}
	u.setKnown()
	return u, said, nil
}

var emptyText = []byte(`""`)

// claimsOf returns the first content of a user's session token. said is what the
// provider said of empty fields; nil, as for stored users: they are null.
func claimsOf(u *User, said *jwtclaims.Said) Claims {
	if said == nil {
		said = &saidNull
	}
	c := Claims{}
	putClaim(c, "name", u.Name, said.Name)
	putClaim(c, "email", u.Email, said.Email)
	putClaim(c, "picture", u.Image, said.Image)
	if u.ID != "" {
		c["sub"] = u.ID
	}
	return c
}

// putClaim sets a claim to text. An empty text becomes said, "" or null; nil: no claim.
func putClaim(c Claims, name, text string, said []byte) {
	switch {
	case text != "" || bytes.Equal(said, emptyText):
		c[name] = text
	case said != nil:
		c[name] = nil
	}
}

// claimedBy returns what a provider says in the empty fields of a person. An
// e-mail address that is null is left out, as in Auth.js.
func claimedBy(id Identity, profile Claims) *jwtclaims.Said {
	said := &jwtclaims.Said{
		Name:  emptyIn(profile, "name", "nickname", "preferred_username"),
		Email: emptyIn(profile, "email"), Image: emptyIn(profile, "picture"),
	}
	if bytes.Equal(said.Email, wirejson.Null) {
		said.Email = nil
	}
	if id.WithoutImage {
		said.Image = wirejson.Null
	}
	return said
}

// emptyIn returns what c says in an empty field: emptyText, wirejson.Null or nil. The first
// member that is not null decides: emptyText for the empty text, and nil for any other value.
// Without such a member it is Null if the last member is null, and nil if that is absent.
func emptyIn(c Claims, names ...string) (raw []byte) {
	for _, name := range names {
		value, present := c[name]
		switch {
		case value == "":
			return emptyText
		case value != nil:
			return nil
		case present:
			raw = wirejson.Null
		default:
			raw = nil
		}
	}
	return raw
}

// endOf returns when a token ends at the latest. It is zero if the token does not
// say.
func endOf(claims Claims, maxAge time.Duration) time.Time {
	end, _ := claims.Time("exp")
	if iat, ok := claims.Time("iat"); ok {
		if last := iat.Add(maxAge); end.IsZero() || last.Before(end) {
			end = last
		}
	}
	return end
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// keepOwn remembers the claims that no callback may set, change or drop, and those named in
// more. With assured the claims of proofs are among them, and with acts the claim act.
func keepOwn(c Claims, assured, acts bool, more ...string) keptClaims {
	kept := make(keptClaims, 0, 12).with(c, more...)
	kept = kept.with(c, jwtclaims.Credential, jwtclaims.Tenant, jwtclaims.SessionID, jwtclaims.AuthTime, jwtclaims.StoreID, jwtclaims.ActorSession)
	if acts {
		kept = kept.with(c, jwtclaims.Actor)
	}
	if assured {
		kept = kept.with(c, jwtclaims.Proved, jwtclaims.AMR, jwtclaims.ACR)
	}
	return kept
}

// putAssurance writes into claims what the user has proven.
func putAssurance(claims Claims, p directory.Proof) {
	claims[jwtclaims.Proved] = jwtclaims.UnixSeconds(p.At)
	if len(p.AMR) == 0 {
		return // a site without second factors
	}
	words := make([]any, len(p.AMR)) // as in claims that were decoded
	for i, word := range p.AMR {
		words[i] = word
	}
	claims[jwtclaims.AMR], claims[jwtclaims.ACR] = words, p.ACR
}

// readAssurance reads what a token of ours says of the proofs. A token without
// proved says nothing: amr and acr may be a provider's words.
func readAssurance(a *Assurance, claims Claims) {
	at, ok := claims.Time(jwtclaims.Proved)
	if !ok {
		return
	}
	words, _ := claims[jwtclaims.AMR].([]any)
	a.Proved, a.ACR = at.UTC(), claims.String(jwtclaims.ACR)
	for _, word := range words {
		if text, ok := word.(string); ok {
			a.AMR = append(a.AMR, text)
		}
	}
}

// readMembersAssurance does what readAssurance does, and returns the time of the
// latest proof.
func readMembersAssurance(a *Assurance, members []jsonscan.Member) time.Time {
	at, ok := jwtclaims.Time(members, jwtclaims.Proved)
	if !ok {
		return time.Time{}
	}
	a.Proved = at.UTC()
	if raw, ok := jsonscan.Lookup(members, jwtclaims.ACR); ok {
		a.ACR = memberText(jsonscan.Member{Raw: raw})
	}
	if raw, ok := jsonscan.Lookup(members, jwtclaims.AMR); ok && json.Unmarshal(raw, &a.AMR) != nil {
		a.AMR = nil
	}
	return a.Proved
}

// life is how long a token may live that takes the place of another. The zero
// life is as long as the configuration says.
type life struct{ until time.Time }

// of returns how long a token that is issued now may live: maxAge, or less if l.until
// comes earlier. The result is negative if that time is over. It is never zero, which
// would stand for the default.
func (l life) of(now time.Time, maxAge time.Duration) time.Duration {
	if l.until.IsZero() {
		return maxAge
	}
	rest := l.until.Sub(time.Unix(now.Unix(), 0)) // a token says its times in whole seconds
	if rest.Truncate(time.Second) == 0 {
		rest = -time.Second // zero would be the default
	}
	return min(maxAge, rest) // negative: within the tolerance a token is accepted after its end
}

// nameSession writes which provider opened the session, and what its providers call it,
// into claims, and a logout's hint into a cookie. A nil at only removes the cookie.
func (t *tokenStrategy) nameSession(v *visit, at *directory.AtProvider, sessionID, provider string, claims Claims) error {
	if at == nil {
		v.cookies.EndHint()
		return nil
	}
	claims[jwtclaims.Provider] = at.Claim(provider)
	maxAge := t.setup.config.Session.MaxAge
	sealed, err := t.setup.hints.Seal(at.Hint, sessionID, provider, v.now(), maxAge)
	if err != nil {
		return failure.Wrap(ErrJWTSession, err)
	}
	v.cookies.PutHint(sealed, v.now().Add(maxAge))
	return nil
}
