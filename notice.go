package latchkey

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/page"
)

// What the page that follows a request says: what was typed, and what of it was
// wrong. It travels in a [browser.Flash].

const (
	longestKept = 254 // characters of one field
	mostKept    = 8   // fields
)

// What notices are about.
const (
	noticeFailed   = "failed"   // a form was sent in vain
	noticeUnusable = "unusable" // … because what was typed is no e-mail address
	noticeUnknown  = "unknown"  // … because the passkey is not registered
	noticeGone     = "gone"     // … and Typed[goneKey] may be forgotten
	noticeSent     = "sent"     // a link is on its way
	noticeAgain    = "again"    // … and it is not the first
	noticeFresh    = "fresh"    // the user has just signed in, to be asked something that takes it
	noticeDeleted  = "deleted"  // the user is gone
	// the user is suspended, until Until
	noticeSuspended = "suspended"

	// On the account page: done, …
	noticeLinked    = "linked"
	noticeUnlinked  = "unlinked"
	noticeEnded     = "ended"      // a session was
	noticeOthers    = "others"     // … or all but this one
	noticeAdded     = "added"      // a passkey was
	noticeRenamed   = "renamed"    // … or was given a name
	noticeRemoved   = "removed"    // … or taken away; Typed[goneKey] says which
	noticePassword  = "password"   // the password was changed
	noticeUnset     = "nopassword" // … or removed
	noticeEmail     = "email"      // the address was
	noticeForgotten = "forgotten"  // a known browser is not known any more
	noticeProfile   = "profile"    // the name or the picture was changed
	noticeKept      = "kept"       // the address stays that was to be replaced
	// … and not done.
	noticeLast      = "last"  // the account is the last way in
	noticeTaken     = "taken" // the account is another user's
	noticeNotLinked = "link"

	noticeFactorAdded   = "factor"
	noticeFactorRemoved = "unfactor"
	noticeMailRemoved   = "unmailed"   // … of mailed codes
	noticeLastFactor    = "lastfactor" // a user has to have one
	noticeUnverified    = "unverified" // the e-mail address is not proven
)

// flash returns the flash message that an earlier request has left, or the zero Flash. It
// does not remove the message.
func (v *visit) flash() browser.Flash { return v.cookies.Flash(v.now()) }

// leave stores f as the flash message for the next page.
func (v *visit) leave(f browser.Flash) { v.cookies.SetFlash(f, v.now()) }

// leaveSent leaves a flash message that says to which address a link was mailed, if the
// browser opens a page.
func leaveSent(v *visit, provider, email string) {
	if !opensPage(v.request.Header) {
		return
	}
	about, before := noticeSent, v.flash()
	if isSent(&before) && before.Typed["email"] == email {
		about = noticeAgain
	}
	v.leave(browser.Flash{About: about, Provider: provider, Typed: map[string]string{"email": email}})
}

// isSent reports whether f says that a link was mailed.
func isSent(f *browser.Flash) bool { return f.About == noticeSent || f.About == noticeAgain }

// isFresh reports whether the user of a session has proven their identity recently
// enough, within v.recent. It goes by the time that the session records. If the session
// records none, or was made elsewhere, so that its age says nothing about the sign-in
// it goes by the flash message that the sign-in to this session has left.
func (v *visit) isFresh(here *currentUser) bool {
	at := here.provedAt()
	if at.IsZero() || here.isAdopted() {
		left, mark := v.flash(), here.mark()
		return !left.Proved.IsZero() && left.User == mark.UserID && left.Session == mark.SessionID && factor.IsRecent(left.Proved, v.now(), v.recent)
	}
	return factor.IsRecent(at, v.now(), v.recent)
}

// mayChange reports whether the user has proven their identity recently enough to change
// how they sign in. byFactor reports that the user has second factors: then the latest
// proof has to be that of one of them. With an error, may is false.
func mayChange(ctx context.Context, s *setup, v *visit, here *currentUser) (may, byFactor bool, err error) {
	if assures(s) {
		held, err := s.directory.Factors.Held(ctx, s.store, &here.user)
		if err != nil {
			return false, true, err
		}
		if len(held.Provable(s.config.Factors.Kinds, here.AMR)) > 0 {
			return held.ByFactor(here.AMR) && factor.IsRecent(here.provedAt(), v.now(), v.recent), true, nil
		}
	}
	return v.isFresh(here), false, nil
}

// proofForLink returns a redirect for a user with a sign-in that is too old to link an account
// . With an account page it leads there: that page asks for a proof. Without one it
// leads to /reauth, which leads to back afterwards; it returns nil if the site has no
// /reauth, there is no session, or a store fails: the sign-in page asks the user to sign in
// with the account they have.
func proofForLink(ctx context.Context, s *setup, v *visit, l *links, back string) *Response {
	switch {
	case s.config.AccountPage.Enabled:
		return &Response{Redirect: l.change()}
	case !s.config.stepsUp():
		return nil
	}
	here, err := s.sessions.current(ctx, v)
	if here == nil || err != nil {
		return nil
	}
	_, byFactor, err := mayChange(ctx, s, v, here)
	if err != nil {
		return nil
	}
	return &Response{Redirect: reauthURL(l, byFactor, back)}
}

// forAccount returns a flash message for the account page of a user, without storing it.
// It keeps what the former message says of a recent sign-in of that user.
func forAccount(v *visit, about, userID string) browser.Flash {
	n := browser.Flash{About: about, User: userID}
	if before := v.flash(); before.User == userID {
		n.Session, n.Proved = before.Session, before.Proved
	}
	return n
}

// backToAccount returns a redirect to the account page, with a flash message about what
// came of a change.
func backToAccount(l *links, v *visit, about, userID string) *Response {
	res := &Response{Redirect: l.url("account")}
	left := forAccount(v, about, userID)
	if c := left.Cookie(v.cookies.Specs, v.now()); c != nil {
		res.Cookies = append(res.Cookies, c)
	}
	return res
}

// sayOnAccount writes what the flash message says to the account page of a user into
// view, and removes the message, so that it is shown once. It does nothing if the message
// is for another user or another page. What the message says of a recent sign-in or of a
// passkey that is gone stays in a new message.
func sayOnAccount(v *visit, view *page.Account, userID string) {
	left := v.flash()
	if left.User != userID {
		return
	}
	switch left.About {
	case noticeLinked, noticeUnlinked, noticeEnded, noticeOthers, noticeAdded, noticeRenamed, noticeRemoved, noticeFactorAdded, noticeFactorRemoved, noticeMailRemoved, noticeForgotten,
		noticePassword, noticeUnset, noticeEmail, noticeProfile, noticeKept:
		view.Notice = left.About
	case noticeLast, noticeTaken, noticeNotLinked, noticeLastFactor, noticeUnverified:
		view.Error = left.About
	default:
		return
	}
	v.cookies.Forget(&v.cookies.Specs.Flash)
	switch next := forAccount(v, noticeFresh, userID); {
	case left.Typed[goneKey] != "": // which the script of the page asks for
		next.Provider, next.Typed = left.Provider, left.Typed
		v.leave(next)
	case !left.Proved.IsZero():
		v.leave(next)
	}
}

// typedFields returns the fields of a provider's form that may be shown again.
// No secret is among them.
func typedFields(p *providerInfo, form map[string]any) map[string]string {
	kept := map[string]string{}
	for _, f := range shownFields(p) {
		text, _ := form[f.Name].(string)
		if text != "" && len(text) <= longestKept && len(kept) < mostKept {
			kept[f.Name] = text
		}
	}
	return kept
}

// shownFields returns the fields of a provider's form with values that are no secrets.
func shownFields(p *providerInfo) []Field {
	if p.kind == TypeEmail || p.kind == TypeWebAuthn {
		return []Field{{Name: "email"}}
	}
	return slices.DeleteFunc(slices.Clone(p.fields), func(f Field) bool {
		isText := slices.Contains([]string{"text", "email", "tel", "url", "search"}, f.Type) || f.Type == "" && f.Name == p.account
		return !isText || strings.HasSuffix(f.Autocomplete, "-password") || f.Autocomplete == "one-time-code"
	})
}

// tried returns what the sign-in page shows of a form that failed, or the zero Tried if n
// is about anything else.
func tried(n *browser.Flash, now time.Time) page.Tried {
	if n.About != noticeFailed && n.About != noticeUnusable && n.About != noticeUnknown {
		return page.Tried{}
	}
	t := page.Tried{Provider: n.Provider, Typed: n.Typed, Unusable: n.About == noticeUnusable, Unknown: n.About == noticeUnknown}
	if n.Until.After(now) {
		t.Wait = n.Until.Sub(now)
	}
	return t
}

// leaveFresh leaves a flash message that the user has just signed in to this session, if
// the browser goes on to a page that asks for a fresh session. Some sessions do not record
// when their user signed in: for those, isFresh reads the message. leaveFresh does nothing
// on a site without an Adapter or an account page, and if an account was linked.
func leaveFresh(ctx context.Context, x *exchange, who *directory.SignIn) error {
	if x.setup.store == nil || !x.setup.config.AccountPage.Enabled || who.IsLink || !leadsToFreshPage(&x.links, x.callbackURL) {
		return nil
	}
	mark, err := x.setup.sessions.markOf(ctx, who)
	if err == nil {
		x.leave(browser.Flash{About: noticeFresh, User: mark.UserID, Session: mark.SessionID, Proved: x.now()})
	}
	return err
}

// leadsToFreshPage reports whether to is the URL of a page that asks for a fresh session:
// to delete the user, to change how they sign in, or to download their data.
func leadsToFreshPage(l *links, to string) bool {
	return to == l.deletion() || to == l.change() || to == ownExport(l)
}
