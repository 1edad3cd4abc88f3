package latchkeytest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Misbehaviour is what an [Issuer] does wrong. Everything left zero is done
// right, so that one fault can be tried at a time. Functions change what they
// are given in place; they may be called concurrently.
type Misbehaviour struct {
	// Before runs before a request is answered: the place to rotate keys, or to
	// change the misbehaviour, in the middle of a sign-in.
	Before func(path string)

	Discovery func(document map[string]any)
	JWKS      func(set map[string]any) // keys is a []any of map[string]any
	Callback  func(params url.Values)  // of the authorization response
	Token     func(answer map[string]any)
	UserInfo  func(claims map[string]any)

	IDToken    func(claims map[string]any)
	Header     func(header map[string]any) // of the ID token; what is signed with follows Sign, not the header
	Sign       Signing                     // of the ID token
	RawIDToken func(token string) string   // the last word about the ID token

	LaxPKCE bool // a verifier is ignored for a code without a challenge (RFC 9700, section 4.8.2)

	Answers map[string]Answer // by path: what happens to the answer as a whole
}

// Answer spoils one of the Issuer's answers. The request has its usual effects
// (a code is spent) unless Hang, Drop or Redirect comes first.
type Answer struct {
	Delay    time.Duration // before anything else
	Hang     bool          // until the caller gives up
	Drop     bool          // the connection, without an answer
	Redirect string        // where to; with Status 302 unless set
	Status   int           // 0: the usual one
	Header   http.Header   // set over the usual ones
	Body     []byte        // nil: the usual one
	Pad      int           // bytes of white space after the body, which leave JSON valid
	Truncate bool          // the body ends after half its length
	Lost     bool          // the connection ends in place of the answer, after the usual effects
}

// Signing is a way to sign ID tokens.
type Signing string

// The ways to sign.
const (
	SignUsual      Signing = ""            // with the published key
	SignNone       Signing = "none"        // not at all, alg none
	SignSecret     Signing = "secret"      // HS256 with the client secret
	SignPublicKey  Signing = "public key"  // HS256 with the published key, in PEM, as if it were a secret
	SignOtherKey   Signing = "other key"   // with a key of one's own, in the name of the published one
	SignUnknownKey Signing = "unknown key" // with a key that is not published, under its own name
	SignOtherAlg   Signing = "other alg"   // with another published key, for an algorithm that the metadata does not list
	SignDamaged    Signing = "damaged"     // properly, then one bit is flipped
)

// reply is an answer before it is sent.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// intercept does what a spoilt answer does first, such as a delay or a redirect. It
// returns true if the request is answered. To close the connection without an answer it
// panics with [http.ErrAbortHandler].
func (a Answer) intercept(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) (done bool) {
	if a.Delay > 0 && !wait(r, closing, time.After(a.Delay)) {
		panic(http.ErrAbortHandler)
	}
	if a.Hang {
		wait(r, closing, nil)
	}
	if a.Hang || a.Drop {
		panic(http.ErrAbortHandler) // net/http's own way to close a connection
	}
	if a.Redirect == "" {
		return false
	}
	setDefault(&a.Status, http.StatusFound)
	w.Header().Set("Location", a.Redirect)
	w.WriteHeader(a.Status)
	return true
}

// wait waits for until, and reports whether that came before the end of the request or
// of the issuer.
func wait(r *http.Request, closing <-chan struct{}, until <-chan time.Time) (reached bool) {
	select {
	case <-until:
		return true
	case <-r.Context().Done():
	case <-closing:
	}
	return false
}

// send writes the usual answer, changed as a says. It panics with [http.ErrAbortHandler]
// to close the connection early.
func (a Answer) send(w http.ResponseWriter, usual reply) {
	if a.Lost {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), usual.header)
	maps.Copy(w.Header(), a.Header)
	body := usual.body
	if a.Body != nil {
		body = a.Body
	}
	setDefault(&a.Status, usual.status)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+a.Pad))
	w.WriteHeader(a.Status)
	if a.Truncate {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush() // the half must arrive before the end
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body) // a caller who went away is no concern of ours
	pad(w, a.Pad)
}

// pad writes n spaces without holding them all.
func pad(w io.Writer, n int) {
	blank := bytes.Repeat([]byte{' '}, min(n, 32<<10))
	for n > 0 {
		written, err := w.Write(blank[:min(n, len(blank))])
		if err != nil {
			return
		}
		n -= written
	}
}
