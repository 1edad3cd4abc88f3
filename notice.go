package latchkey

import (
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/jwt"
)

// A notice is what one request leaves for the page that follows it, in a sealed
// cookie, so that no link can make a page say it: what was typed, and where it
// was wrong.

const (
	noticeMaxAge  = 10 * time.Minute
	longestKept   = 254 // characters of one field
	mostKept      = 8   // fields
	purposeNotice = "notice"
)

// What notices are about.
const (
	noticeFailed   = "failed"   // a form was sent in vain
	noticeUnusable = "unusable" // … because what was typed is no e-mail address
	noticeUnknown  = "unknown"  // … because nobody has registered the passkey
	noticeSent     = "sent"     // a link is on its way
	noticeAgain    = "again"    // … and it is not the first
	noticeFresh    = "fresh"    // somebody has just signed in, to be asked something that takes it
	noticeDeleted  = "deleted"  // the user is gone

	// On the account page: done, …
	noticeLinked   = "linked"
	noticeUnlinked = "unlinked"
	noticeEnded    = "ended"   // a session was
	noticeOthers   = "others"  // … or all but this one
	noticeAdded    = "added"   // a passkey was
	noticeRenamed  = "renamed" // … or was given a name
	noticeRemoved  = "removed" // … or taken away; typed says which
	// … and not done.
	noticeLast      = "last"  // the account is the last way in
	noticeTaken     = "taken" // the account is somebody else's
	noticeNotLinked = "link"
)

type notice struct {
	about    string
	provider string            // id of the provider whose form it was
	user     string            // id of the user it is about
	session  string            // the one it is about, as a sign-in under way names it; empty: one that has no name
	typed    map[string]string // by field
	until    time.Time         // when it makes sense to try again
	proved   time.Time         // when the session was opened, where nothing else says so
}

// noticeCookie seals n. nil: it cannot be, and the page says less.
func noticeCookie(x *exchange, n notice) *http.Cookie {
	k, now := &x.cookies.specs.notice, x.setup.now()
	claims := jwt.Claims{"purpose": purposeNotice, "about": n.about, "provider": n.provider, "user": n.user, "session": n.session, "typed": n.typed}
	for name, at := range map[string]time.Time{"until": n.until, "proved": n.proved} {
		if !at.IsZero() {
			claims[name] = at.Unix()
		}
	}
	sealed, err := k.codec.SealClaims(claims, now, noticeMaxAge)
	if err != nil {
		return nil
	}
	return k.make(sealed, now.Add(noticeMaxAge))
}

// leave has the next page know n.
func leave(x *exchange, n notice) {
	if c := noticeCookie(x, n); c != nil {
		x.cookies.set(c)
	}
}

// leaveSent has the page that follows know where a link went.
func leaveSent(x *exchange, provider, email string) {
	if !opensPage(x.request.Header) {
		return
	}
	about, before := noticeSent, noticeOf(x)
	if before.isSent() && before.typed["email"] == email {
		about = noticeAgain
	}
	leave(x, notice{about: about, provider: provider, typed: map[string]string{"email": email}})
}

func (n *notice) isSent() bool { return n.about == noticeSent || n.about == noticeAgain }

// noticeOf is what the request before left; zero: nothing.
func noticeOf(x *exchange) (n notice) {
	k := &x.cookies.specs.notice
	value, ok := x.cookies.value(k)
	if !ok {
		return n
	}
	claims, err := k.codec.OpenClaims(value, x.setup.now(), noticeMaxAge)
	if err != nil || claims.String("purpose") != purposeNotice {
		return n
	}
	n = notice{about: claims.String("about"), provider: claims.String("provider"), user: claims.String("user"), session: claims.String("session"), typed: map[string]string{}}
	typed, _ := claims["typed"].(map[string]any)
	for name, value := range typed {
		n.typed[name], _ = value.(string)
	}
	n.until, _ = claims.Time("until")
	n.proved, _ = claims.Time("proved")
	return n
}

// freshSignIn is how long ago somebody may have signed in who changes how they
// sign in, or deletes their account: what takes a session must not take
// everything (ASVS 7.5.1).
const freshSignIn = 10 * time.Minute

// isFresh tells whether somebody has signed in recently. Where no store and no
// token says when that was, it is the sign-in that they were asked for.
func isFresh(x *exchange, here *currentUser) bool {
	if here.since.IsZero() {
		left, mark := noticeOf(x), here.mark()
		return !left.proved.IsZero() && left.user == mark.UserID && left.session == mark.SessionID && isRecent(x, left.proved)
	}
	return isRecent(x, here.since)
}

func isRecent(x *exchange, at time.Time) bool { return x.setup.now().Sub(at) <= freshSignIn }

// forAccount is a notice for the account page of a user. What the one before it
// says of a recent sign-in goes on to hold.
func forAccount(x *exchange, about, userID string) notice {
	n := notice{about: about, user: userID}
	if before := noticeOf(x); before.user == userID {
		n.session, n.proved = before.session, before.proved
	}
	return n
}

// backToAccount leads to the account page, which says what came of a change.
func backToAccount(x *exchange, about, userID string) *Response {
	res := &Response{Redirect: x.url("account")}
	if c := noticeCookie(x, forAccount(x, about, userID)); c != nil {
		res.Cookies = append(res.Cookies, c)
	}
	return res
}

// sayOnAccount has the account page of a user say what was left for it, once.
func sayOnAccount(x *exchange, view *page.Account, userID string) {
	left := noticeOf(x)
	if left.user != userID {
		return
	}
	switch left.about {
	case noticeLinked, noticeUnlinked, noticeEnded, noticeOthers, noticeAdded, noticeRenamed, noticeRemoved:
		view.Notice = left.about
	case noticeLast, noticeTaken, noticeNotLinked:
		view.Error = left.about
	default:
		return
	}
	dropNotice(x)
	if !left.proved.IsZero() {
		leave(x, forAccount(x, noticeFresh, userID))
	}
}

// dropNotice forgets a notice that has been shown.
func dropNotice(x *exchange) {
	k := &x.cookies.specs.notice
	if _, there := x.cookies.jar.Get(k.name()); there {
		x.cookies.set(k.clear(k.name()))
	}
}

// typedFields are the fields of a provider's form that may be shown again. No
// secret is among them.
func typedFields(x *exchange) map[string]string {
	kept := map[string]string{}
	for _, f := range shownFields(x.provider.info()) {
		text := x.field(f.Name)
		if text != "" && len(text) <= longestKept && len(kept) < mostKept {
			kept[f.Name] = text
		}
	}
	return kept
}

// shownFields are those of a provider's form whose values are no secrets.
func shownFields(p *providerInfo) []Field {
	if p.kind == TypeEmail || p.kind == TypeWebAuthn {
		return []Field{{Name: "email"}}
	}
	return slices.DeleteFunc(slices.Clone(p.fields), func(f Field) bool {
		isText := f.Type == "" || slices.Contains([]string{"text", "email", "tel", "url", "search"}, f.Type)
		return !isText || f.Autocomplete == "one-time-code"
	})
}

// tried is what the sign-in page shows of a form that was sent in vain.
func (n *notice) tried(now time.Time) page.Tried {
	if n.about != noticeFailed && n.about != noticeUnusable && n.about != noticeUnknown {
		return page.Tried{}
	}
	t := page.Tried{Provider: n.provider, Typed: n.typed, Unusable: n.about == noticeUnusable, Unknown: n.about == noticeUnknown}
	if n.until.After(now) {
		t.Wait = n.until.Sub(now)
	}
	return t
}
