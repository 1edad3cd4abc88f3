package users

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// What support desks also do: mails to a user, another address, the latest
// activities, and what a site can do at all.

// SendSignInLink mails a user a link that signs the user in and then leads to redirectTo,
// a path of the site; empty: its front page. A redirectTo that is no path is an
// [InputError]. A user without an e-mail address is ErrNotFound. Mails count for
// latchkey.Limits.MailsPerRecipient: after too many the error is latchkey.ErrEmailSignIn with
// the Code "limit". A mail that cannot be sent is latchkey.ErrEmailSignIn without a Code.
// It needs latchkey.Site.URL and a latchkey.Email without SameBrowser.
func (u *Users) SendSignInLink(ctx context.Context, userID, redirectTo string) error {
	w, err := u.open(ctx, userID, "Users.SendSignInLink")
	if err != nil {
		return err
	}
	user, err := w.Store.User(ctx, userID)
	if err == nil && user.Email == "" {
		err = storage.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	if err := u.backend.SignInLink(ctx, &user, redirectTo); err != nil {
		return err
	}
	w.Events.Add(event.Event{Type: event.LinkSent, UserID: user.ID}, nil)
	return nil
}

// EmailChange is another e-mail address of a user.
type EmailChange struct {
	Email string

	// Recover is for a user who cannot sign in, because the mailbox is lost. The change
	// takes latchkey.Factors.RecoveryDelay, and at least 72 hours. Both addresses get a mail
	// at once and a second one half-way. The mails to the present address have a link that
	// stops the change. The mails to the new address have a link that makes it. That link
	// works after the delay, once, for a day. If the second mails are late, it works 24
	// hours after them. Requests to the routes send the second mails, and so does
	// latchkey.Auth.Sweep. If none leaves within a day after the delay, the change is void.
	//
	// The change ends the sessions, mailed links and remembered browsers of the user.
	// Password, accounts and second factors stay. Any sign-in of the user stops the change.
	Recover bool
}

// ChangeEmail begins the change of a user's e-mail address, or makes it at once:
//
//   - A user that Create has made and who has not signed in yet has the new address at
//     once, unproven. A taken address is ErrConflict.
//   - For any other user, without Recover, it begins the change that the account page
//     offers. A link is mailed to the new address, and the address changes when the user
//     opens the link in a session. The old address is told by a mail. If the new address is
//     taken, the error is nil, and the mail tells the owner of that address.
//   - For any other user, with Recover, it begins a change that needs no session: see
//     [EmailChange]. A taken address is ErrConflict, and a user without an address is
//     ErrNotFound. The error is an [InputError] for Recover if the user has never proven
//     the present address, if the address has changed within the last 30 days, or if a
//     change without Recover was begun in that time.
//     If a mail cannot be sent, the change is withdrawn and the error is
//     latchkey.ErrEmailSignIn. A former mailbox that is gone withdraws nothing: see
//     latchkey.ErrMailboxGone. While a change with Recover to the same address is under
//     way, the call does nothing. A call with Recover and another address replaces that
//     change. After three changes in a day
//     the error is latchkey.ErrEmailSignIn with the Code "limit". Check by other means
//     that the user is asking.
//
// For a user who has signed in it needs latchkey.Site.URL, and a latchkey.Password or
// latchkey.EditEmail. A text that is no e-mail address is an [InputError].
func (u *Users) ChangeEmail(ctx context.Context, userID string, c EmailChange) error {
	w, err := u.open(ctx, userID, "Users.ChangeEmail")
	if err != nil {
		return err
	}
	email, err := mailbox.Normalize(c.Email)
	if err != nil || mailbox.Check(email) != nil {
		return wrong("Email", "it is no e-mail address")
	}
	user, err := w.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	if !user.Provisioned.IsZero() {
		if isDone, err := directory.ChangeProvisioned(ctx, w.Directory, w.Events, &user, email); isDone || err != nil {
			return err
		}
	}
	k, err := u.backend.Moves(ctx)
	if err != nil {
		return err
	}
	if !c.Recover {
		return k.Move(ctx, w.Events, &user, email, k.From)
	}
	err = k.Regain(ctx, w.Events, &user, email, k.Send)
	for _, refused := range []error{directory.ErrRegainRefused, directory.ErrRegainUnproven} {
		if errors.Is(err, refused) {
			err = wrong("Recover", refused.Error())
		}
	}
	return err
}

// Activity is one thing that happened to a user, as the user may see it.
type Activity struct {
	Time     time.Time
	Type     event.Type
	Outcome  event.Outcome
	Provider string // id; empty: none
	Browser  string // such as Firefox; empty: unknown
	System   string // such as Linux; empty: unknown
	Actor    event.ActorKind
}

// Activity returns the latest twenty activities of a user in the last 90 days, the
// newest first: sign-ins, changes of the ways to sign in, and what administrators did.
// They are recorded only while latchkey.AccountPage.Activity is set. It needs an Adapter
// that is a [storage.ActivityAdapter]; without it the error is errors.ErrUnsupported too.
func (u *Users) Activity(ctx context.Context, userID string) ([]Activity, error) {
	w, err := u.open(ctx, userID, "Users.Activity")
	if err != nil {
		return nil, err
	}
	if !w.Store.Has(directory.AbilityActivities) {
		return nil, w.Store.Lacks("Users.Activity", directory.AbilityActivities)
	}
	rows, err := directory.Activities(ctx, w.Directory, userID)
	list := make([]Activity, 0, len(rows))
	for _, r := range rows {
		a := Activity{Time: r.Time, Provider: r.Provider, Actor: event.ActorKind(r.ActorKind)}
		a.Type, a.Outcome = people.TypeOf(r.Type)
		a.Browser, a.System = people.BrowserOf(r.UserAgent)
		list = append(list, a)
	}
	return list, err
}

// BrowserOf returns the names of the browser and the system that a User-Agent header
// tells of, each empty if it is unknown.
func BrowserOf(userAgent string) (browser, system string) { return people.BrowserOf(userAgent) }

// Capabilities are what a site can do with users, by its Adapter and configuration.
type Capabilities struct {
	List        bool // List, All and Count; without it List finds exact e-mail addresses and ids
	Suspend     bool // Suspend and Restore
	Delete      bool // Delete and Erase
	Accounts    bool // Accounts and Unlink
	Passkeys    bool // Passkeys, RenamePasskey; RemovePasskey needs Accounts, too
	Factors     bool // the methods about second factors
	Sessions    bool // Sessions and EndSession
	EndSessions bool // EndSessions and EndOtherSessions
	Activity    bool // Activity
	SignInLink  bool // SendSignInLink
	Invite      bool // Invite, by mail
	ActAs       bool // latchkey.Auth.ActAsLink
	Passwords   bool // SendPasswordReset, which needs Site.URL; the other methods about passwords need only a latchkey.Password
	ChangeEmail bool // ChangeEmail of users who have signed in; for all others it needs nothing
}

// Capabilities returns what the site can do, for pages that offer only that.
func (u *Users) Capabilities(ctx context.Context) (Capabilities, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	has := w.Store.Has
	can := Capabilities{
		List: has(directory.AbilityPeople), Suspend: directory.CanSuspend(w.Directory, "") == nil, Delete: has(directory.AbilityDeletion),
		Accounts: has(directory.AbilityAccountLists), Passkeys: has(directory.AbilityAuthenticators), Factors: w.Factors != nil,
		Sessions:    w.StoredSessions && w.Store.Require("", directory.AbilitySessionLists) == nil,
		EndSessions: w.CanEndSessions("") == nil, ActAs: w.ActsAs, Activity: has(directory.AbilityActivities),
	}
	can.SignInLink, can.Passwords = u.backend.Mails(ctx)
	_, err = u.backend.Moves(ctx)
	can.ChangeEmail = err == nil
	inviter, err := u.backend.Inviter(ctx)
	can.Invite = err == nil && inviter.Link != nil && inviter.Mail != nil
	return can, nil
}

// SaveQuery returns a sealed text from which OpenQuery restores q, for the URL of a page:
// names and e-mail addresses do not belong into URLs. OpenQuery accepts the text only with
// the same holder, such as the id of a session, and for 15 minutes. An empty holder is an
// [InputError]. SaveQuery does not check q: List does.
func (u *Users) SaveQuery(ctx context.Context, q Query, holder string) (string, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return "", err
	}
	return w.Cursors.Save(people.Query(q), holder)
}

// OpenQuery returns the query of a text that SaveQuery made for holder. Any other text,
// and one that is older than 15 minutes, is an [InputError].
func (u *Users) OpenQuery(ctx context.Context, saved, holder string) (Query, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return Query{}, err
	}
	q, err := w.Cursors.Load(saved, holder)
	return Query(q), err
}
