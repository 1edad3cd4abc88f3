// Package explain names failures and explains them: the reference code of one failure,
// what happened, why, and the cure. The command latchkey explain and
// docs/troubleshooting.md have its texts.
package explain

import (
	"slices"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey/fault"
)

// Party names the side that has to act after a failure.
type Party string

// The parties.
const (
	Visitor   Party = "visitor"
	Operator  Party = "operator"
	Developer Party = "developer"
	Provider  Party = "provider"
)

// Text explains a detail.
type Text struct {
	Number int // in reference codes; it never changes its meaning, and is never given to another detail
	Detail fault.Detail
	Party  Party
	What   string   // what happened, in one sentence
	Causes []string // the most frequent one first
	Cure   string
}

// Texts returns all explanations in order of number. The slice is the caller's to change;
// the Causes in it are shared.
func Texts() []Text {
	return slices.Concat(flowsTexts, usersTexts, siteTexts, runTexts)
}

var (
	byNumber = index(func(t *Text) int { return t.Number })
	byDetail = index(func(t *Text) fault.Detail { return t.Detail })
)

// index returns a function that returns the explanations by their key. They are indexed
// at its first call, because many programs never fail.
func index[K comparable](key func(*Text) K) func() map[K]*Text {
	return sync.OnceValue(func() map[K]*Text {
		all, found := Texts(), map[K]*Text{}
		for i := range all {
			found[key(&all[i])] = &all[i]
		}
		return found
	})
}

// Named returns the detail that name means, in any case of letters: the detail of that
// name, or the one that a [fault.ErrorType] such as AdapterError has where nothing names a
// closer one. For any other name it returns name itself in lower case.
func Named(name string) fault.Detail {
	for of, detail := range byType {
		if strings.EqualFold(string(of), name) {
			return detail
		}
	}
	return fault.Detail(strings.ToLower(name))
}

// Find returns the explanation of a detail, or false for a detail that is not in the
// list. Its Causes are shared: the caller must not change them.
func Find(d fault.Detail) (Text, bool) {
	t, known := byDetail()[d]
	if !known {
		return Text{}, false
	}
	return *t, true
}

// numberOf returns the number of a detail. One that is not in the list has the number
// of fault.Other.
func numberOf(d fault.Detail) int {
	if t, known := byDetail()[d]; known {
		return t.Number
	}
	return byDetail()[fault.Other].Number
}

// mistyped are the failures of which there is nothing to report: a page shows no code,
// so that a wrong password looks like an unknown name.
var mistyped = []fault.Detail{
	fault.SignInWrong, fault.LimitClient, fault.CodeWrong, fault.FactorWrong, fault.PasswordWrong, fault.PasswordRefused, fault.MailAddress, fault.UserMissing,
}

// IsMistyped reports whether a failure is about what a visitor typed, or typed too often.
// Pages show no reference code for such a failure.
func IsMistyped(d fault.Detail) bool { return slices.Contains(mistyped, d) }

// Spelled returns code in the spelling of Make. code has to be one that Open accepts.
func Spelled(code string) string {
	v, _ := unspell(code)
	return spell(v)
}

// IsFault reports whether d says that a callback panicked or that a store failed. It
// returns false for all other details, also for a wrong configuration.
func IsFault(d fault.Detail) bool {
	switch d {
	case fault.CallbackPanic, fault.StoreAway, fault.StoreSlow, fault.StoreSchema, fault.StoreFailed, fault.StoreAnswer:
		return true
	}
	return false
}
