package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// Fragment plays the world on every site that the declarations of a fragment make. items are
// the values of these declarations, such as configurations, providers, callbacks and
// handlers. auth is the site that the fragment uses without making it. Fragment plays the
// world on auth if the report has no log, as when no item makes a site. It never returns.
func Fragment(auth *latchkey.Auth, items ...any) {
	var r Report
	for _, item := range items {
		if site := siteOf(auth, item); site != nil {
			current.run(site, &r)
		}
	}
	if len(r.Log) == 0 {
		current.run(auth.Middleware(showSession(auth)), &r)
	}
	finish(r)
}

// siteOf returns the site that an item of Fragment makes, or nil if it makes none. What is
// part of a configuration, such as a provider or a callback, makes a new site that has it.
// A guard or a handler makes a page of auth. Any other function makes the site that it
// returns.
func siteOf(auth *latchkey.Auth, item any) http.Handler {
	with := func(change func(*latchkey.Config)) http.Handler {
		own, err := newSite(change)
		if err != nil {
			return nil
		}
		return own.Middleware(own.RequireSession(showSession(own)))
	}
	guarded := func(guard func(http.Handler) http.Handler) http.Handler {
		return auth.Middleware(guard(showSession(auth)))
	}
	switch item := item.(type) {
	case latchkey.Config:
		return with(func(c *latchkey.Config) {
			c.Callbacks, c.Events, c.Invitations = item.Callbacks, item.Events, item.Invitations
			c.Providers = append(c.Providers, item.Providers...)
			if item.Callbacks.Token != nil {
				c.Session.Strategy = latchkey.JWTSessions
			}
		})
	case *latchkey.OAuth:
		return with(func(c *latchkey.Config) { c.Providers = append(c.Providers, item) })
	case func(context.Context, latchkey.SignInAttempt) error:
		return with(func(c *latchkey.Config) { c.Callbacks.SignIn = item })
	case func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error):
		return with(func(c *latchkey.Config) { c.Callbacks.Token, c.Session.Strategy = item, latchkey.JWTSessions })
	case func(context.Context, latchkey.SessionInfo) (*latchkey.Session, error):
		return with(func(c *latchkey.Config) { c.Callbacks.Session = item })
	case func(context.Context, latchkey.SignInEvent) error:
		return with(func(c *latchkey.Config) { c.Events.SignIn = item })
	case func(context.Context, latchkey.User) error:
		return with(func(c *latchkey.Config) { c.Events.CreateUser = item })
	case func(*http.Request, *latchkey.Session) error:
		return guarded(auth.Authorize(item))
	case func(http.ResponseWriter, *http.Request):
		return guarded(func(http.Handler) http.Handler { return http.HandlerFunc(item) })
	case func(http.Handler) http.Handler:
		return guarded(item)
	}
	return returnedSite(auth, item)
}

// returnedSite calls item if it is a function that returns a handler, and returns that
// handler as a site. The statements of a fragment, which TestGuidesGiveNothingAway wraps
// into a function, make the handlers that they have registered. returnedSite returns nil for
// any other item.
func returnedSite(auth *latchkey.Auth, item any) http.Handler {
	f := reflect.ValueOf(item)
	if f.Kind() != reflect.Func || f.Type().NumOut() == 0 {
		return nil
	}
	hasStatements := f.Type().NumIn() == 4 && f.Type().In(1) == reflect.TypeFor[*testing.T]()
	if !hasStatements && !f.Type().Out(0).Implements(reflect.TypeFor[http.Handler]()) {
		return nil
	}
	out := call(f, pool(auth, nil, ""))
	if hasStatements {
		current.mu.Lock()
		if n := len(current.armed); n > 0 {
			auth = current.armed[n-1].auth
		}
		current.mu.Unlock()
		return auth.Middleware(http.DefaultServeMux)
	}
	if len(out) == 0 || out[0].IsZero() {
		return nil
	}
	if own, ok := out[0].Interface().(*latchkey.Auth); ok {
		return own.Middleware(own.RequireSession(showSession(own)))
	}
	return auth.Middleware(out[0].Interface().(http.Handler))
}

// callAll calls, as the visitor, every function that Fn has noted and that has not run yet.
// It adds what they return to the log of the visitor. The arguments come from pool and from
// the visitor's last sign-in event.
func (s *stage) callAll(b *browser) {
	s.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(s.funcs), func(f function) bool { return s.ran[f.id] })
	var signedIn latchkey.SignInEvent
	for _, e := range s.events {
		if e.User.ID == b.user {
			signedIn = e
		}
	}
	var auth *latchkey.Auth
	if n := len(s.armed); n > 0 {
		auth = s.armed[n-1].auth
	}
	s.mu.Unlock()
	var session *latchkey.Session
	try(func() { session = b.Session() })
	if session != nil {
		session.UserID = b.user
	}
	for _, f := range list {
		for _, text := range append(s.pathLiterals(), b.email) {
			args := pool(auth, session, text)
			args = append(args, reflect.ValueOf(signedIn), reflect.ValueOf(signedIn.User), reflect.ValueOf(signedIn.Account),
				reflect.ValueOf(latchkey.SignInAttempt{User: signedIn.User, Account: signedIn.Account, Profile: signedIn.Profile}))
			var said []string
			for _, out := range call(reflect.ValueOf(f.value), args) {
				said = append(said, resultText(out))
			}
			b.log = append(b.log, b.plain(fmt.Sprint(f.id, " of ", text, ": ", said)))
		}
	}
}

// resultText returns a result as text that two runs have in common.
func resultText(out reflect.Value) string {
	switch x := out.Interface().(type) {
	case error, string, bool, int:
		return fmt.Sprint(x)
	case *latchkey.Session, latchkey.Claims, latchkey.User, latchkey.Identity:
		text, _ := json.Marshal(x)
		return string(text)
	}
	return out.Type().String()
}

// pathLiterals returns the program's literals that begin with a slash, for string
// parameters.
func (s *stage) pathLiterals() (list []string) {
	for _, text := range s.literals {
		if strings.HasPrefix(text, "/") {
			list = append(list, text)
		}
	}
	return list
}

// pool returns a value for each type that a function of an application may ask for.
func pool(auth *latchkey.Auth, session *latchkey.Session, text string) []reflect.Value {
	ctx := context.Background()
	if session != nil {
		ctx = latchkey.ContextWithSession(ctx, session)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, origin+"/", http.NoBody)
	list := []reflect.Value{
		reflect.ValueOf(ctx), reflect.ValueOf(httptest.NewRecorder()), reflect.ValueOf(r), reflect.ValueOf(session), reflect.ValueOf(text),
		reflect.ValueOf(memoryadapter.New(memoryadapter.Options{})), reflect.ValueOf(&latchkey.Email{Send: current.box.Send}),
	}
	if auth != nil {
		list = append(list, reflect.ValueOf(auth), reflect.ValueOf(showSession(auth)))
	}
	return list
}

// call calls f with arguments from values, or made ones: see argument. It returns nil if f
// panics, as it may for want of a value.
func call(f reflect.Value, values []reflect.Value) (out []reflect.Value) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	t := f.Type()
	args := make([]reflect.Value, t.NumIn())
	for i := range args {
		args[i] = argument(t.In(i), values)
	}
	if t.IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// argument returns a value for a parameter of type want: one of values, or a made one. A
// made function notes its arguments (see noted), a made pointer points to a zero value, a
// made channel has a thousand of them, and anything else is zero.
func argument(want reflect.Type, values []reflect.Value) reflect.Value {
	for _, have := range values {
		if have.Type() == want || want.Kind() == reflect.Interface && want.NumMethod() > 0 && have.Type().Implements(want) {
			return have
		}
	}
	switch want.Kind() {
	case reflect.Func:
		return reflect.MakeFunc(want, func(args []reflect.Value) []reflect.Value { return noted(want, args) })
	case reflect.Pointer:
		return reflect.New(want.Elem())
	case reflect.Chan: // so that f does not wait
		c := reflect.MakeChan(reflect.ChanOf(reflect.BothDir, want.Elem()), 1000)
		for range c.Cap() {
			c.Send(reflect.Zero(want.Elem()))
		}
		return c.Convert(want)
	}
	return reflect.Zero(want)
}

// noted records a call of a function f that the application would bring, and returns its
// results. A result of the same type as the argument at its place is that argument, so
// that a function that wraps a handler returns it. Others are zero.
func noted(f reflect.Type, args []reflect.Value) []reflect.Value {
	texts, out := []string{}, []reflect.Value{}
	for _, arg := range args {
		if arg.Kind() == reflect.String {
			texts = append(texts, arg.String())
		}
	}
	current.mu.Lock()
	current.gifts = append(current.gifts, fmt.Sprint("told: ", texts))
	current.mu.Unlock()
	current.hear("a function of the application", texts...)
	for i := range f.NumOut() {
		if i < len(args) && args[i].Type() == f.Out(i) {
			out = append(out, args[i])
			continue
		}
		out = append(out, reflect.Zero(f.Out(i)))
	}
	if last := len(out) - 1; last >= 0 && f.Out(last) == reflect.TypeFor[error]() && current.fails(fmt.Sprint(f, texts)) {
		out[last] = reflect.ValueOf(errSetback)
	}
	return out
}

// claim sets the address that the intruder claims from now on without a proof. An empty
// address ends that.
func (s *stage) claim(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimed = address
}

// hear records a fault if texts has the address that the intruder has only claimed. The
// first argument says which part of the application the program has handed it to.
func (s *stage) hear(who string, texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed != "" && slices.Contains(texts, s.claimed) {
		s.told = append(s.told, fmt.Sprintf("%s gets %s, which its user has not proven", who, s.claimed))
	}
}

// errSetback is what a function of the application returns that fails in the world setback.
var errSetback = errors.New("it fails for now")

// fails reports whether a call of a function that the application brings fails: in the
// world setback the first of its kind from a function of Events.
func (s *stage) fails(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world != "setback" || s.inEvent == 0 {
		return false
	}
	_, again := s.failed[call]
	s.failed[call] = !again
	return !again
}

// undone returns the calls from Events that failed and that nothing has repeated.
func (s *stage) undone() (faults []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for call, failed := range s.failed {
		if failed {
			faults = append(faults, "a function of Events fails at "+call+", and the next sign-in does not do it again")
		}
	}
	return faults
}
