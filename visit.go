package latchkey

import (
	"maps"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/watch"
)

// visit is what session strategies see of an exchange: the cookies and the
// credential of a client, and what its request causes.
type visit struct {
	request    *Request
	now        func() time.Time
	recent     time.Duration // how recent a proof has to be for changes of how a user signs in
	cookies    browser.Cookies
	credential browser.Credential
	events     directory.Outbox
	trail      watch.Trail
	looks      bool   // the request only shows a page of the user
	why        string // there is no session, or "renewed" for one that was; empty: unknown

	about       journal.Subject // the exchange, for the log
	secretsSeen []string        // that came up on the way and may not be logged
	reference   string          // the code of what failed; empty: nothing has
}

// hide keeps secrets out of the log.
func (v *visit) hide(secrets ...string) { v.secretsSeen = append(v.secretsSeen, secrets...) }

// viaOf returns how a session with a token of this kind came.
func viaOf(kind browser.Kind) SessionVia {
	if kind == browser.BearerKind {
		return ViaBearer
	}
	return ViaCookie
}

// nameUser returns claims that name the stored user of the id, if the application has
// replaced sub: whatever ends the sessions of that user has to reach this one. It
// does not change the map that a callback returned. It returns claims as they are for an
// empty id.
func nameUser(claims Claims, id string) Claims {
	if id == "" || claims.String(jwtclaims.Subject) == id {
		return claims
	}
	claims = maps.Clone(claims)
	claims[jwtclaims.StoreID] = id
	return claims
}

// Refer returns the reference code of the visit's failure. The first call makes it, and
// later ones return the same. It is not safe for concurrent use.
func (v *visit) Refer(make func() string) string {
	if v.reference == "" {
		v.reference = make()
	}
	return v.reference
}
