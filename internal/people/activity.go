package people

import (
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/event"
)

// kept are the types of event that are activities of a user. A user sees them.
var kept = []event.Type{
	event.SignIn, event.SessionOpened, event.UserEvicted, event.AccountLinked, event.AccountUnlinked,
	event.PasswordSet, event.PasswordChanged, event.PasswordReset, event.EmailAsked, event.EmailChanged, event.EmailStopped, event.EmailReverted,
	event.FactorAdded, event.FactorRemoved, event.FactorReset, event.FactorFailed, event.RecoveryUsed, event.RecoveryChanged,
	event.RecoveryAsked, event.RecoveryStopped, event.RecoveryDone, event.PasswordRemoved, event.PasswordRequired,
	event.BrowserTrusted, event.UserSuspended, event.UserRestored, event.UserExported, event.ImpersonationStarted,
}

// IsActivity reports whether an event is an activity of its user, such as a sign-in, a new
// way to sign in, or an administrator's change. A failed sign-in is one only if By is the
// user. Visitors could otherwise fill the list, and the time that a store needs would tell
// them which addresses are users'.
func IsActivity(e *event.Event) bool {
	isGuess := e.Type == event.SignIn && e.Outcome == event.Failed && e.By.ID != e.UserID
	return e.UserID != "" && !isGuess && (slices.Contains(kept, e.Type) || e.Type == event.UserUpdated && e.By.Kind == event.ActorAdmin)
}

const failedMark = " failed" // after the type of what failed

// TypeText returns how an activity keeps the type and the outcome of an event.
func TypeText(t event.Type, o event.Outcome) string {
	if o == event.Failed {
		return string(t) + failedMark
	}
	return string(t)
}

// TypeOf returns the type and the outcome that TypeText has written as text.
func TypeOf(text string) (event.Type, event.Outcome) {
	if t, failed := strings.CutSuffix(text, failedMark); failed {
		return event.Type(t), event.Failed
	}
	return event.Type(text), event.Succeeded
}

// Parts of a User-Agent header and what they say. The first that is found
// counts: browsers name those they descend from.
var (
	browserNames = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser", "Samsung Internet"},
		{"Firefox", "Firefox"},
		{"FxiOS", "Firefox"},
		{"CriOS", "Chrome"},
		{"Chrome", "Chrome"},
		{"Safari", "Safari"},
		{"curl/", "curl"},
	}
	systemNames = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	}
)

// BrowserOf returns the browser and the system that a User-Agent header names, each
// empty if it names none.
func BrowserOf(agent string) (name, system string) {
	return firstNamed(browserNames, agent), firstNamed(systemNames, agent)
}

// firstNamed returns the name of the first pair of mark and name whose mark is in agent,
// or "".
func firstNamed(names [][2]string, agent string) string {
	for _, n := range names {
		if strings.Contains(agent, n[0]) {
			return n[1]
		}
	}
	return ""
}
