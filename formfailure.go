package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// FormFailure is why a form action failed. Texts about what the user typed are in the
// user's language; texts for the author of the form name the field and the cure, in
// English.
type FormFailure struct {
	hidden

	// Status suits the page that shows the form again:
	//
	//   - 400: the form cannot be understood
	//   - 403: it was refused
	//   - 429: there were too many tries
	//   - 500: the operator has to mend something
	//   - 503: a store does not answer for now
	Status      int
	FieldErrors FieldErrors
	FormErrors  []string   // about the form as a whole
	Values      url.Values // what to fill the fields with: the form's, but never a password or a code
	Err         error      // an [*Error], which has been logged

	wait int // seconds until it makes sense to try again; zero: at once
	view page.Tried
}

// FieldErrors are the texts of a [FormFailure] about single fields. Empty: nothing is wrong.
type FieldErrors struct {
	ProviderID          []string `json:"providerId,omitempty"`
	RedirectTo          []string `json:"redirectTo,omitempty"`
	Options             []string `json:"options,omitempty"` // about all other fields, such as email
	AuthorizationParams []string `json:"authorizationParams,omitempty"`
}

func (e *FieldErrors) all() []string {
	return slices.Concat(e.ProviderID, e.RedirectTo, e.Options, e.AuthorizationParams)
}

func (e *FieldErrors) any() bool { return len(e.all()) > 0 }

// Messages returns all texts of the failure, in the order in which to show them. f must
// not be nil.
func (f *FormFailure) Messages() []string { return append(f.FieldErrors.all(), f.FormErrors...) }

// wire returns the failure as a script gets it, as a value for package json.
func (f *FormFailure) wire() any {
	told := struct {
		Failed      bool        `json:"failed"`
		FieldErrors FieldErrors `json:"fieldErrors"`
		FormErrors  []string    `json:"formErrors"`
		Error       string      `json:"error,omitempty"`
		Code        string      `json:"code,omitempty"`
	}{Failed: true, FieldErrors: f.FieldErrors, FormErrors: f.FormErrors, Error: f.name()}
	if told.FormErrors == nil {
		told.FormErrors = []string{}
	}
	if failure.TypeOf(f.Err) == ErrCredentialsSignin {
		told.Code = codeOf(f.Err)
	}
	return told
}

// name returns the name of the error in the query of the sign-in page. It returns "" if a
// field is wrong. Every ErrEmailSignIn is EmailSignin, also if the address is wrong.
func (f *FormFailure) name() string {
	switch t := failure.TypeOf(f.Err); {
	case t == ErrEmailSignIn:
		return "EmailSignin"
	case f.FieldErrors.any():
		return ""
	default:
		return string(shownType(t))
	}
}

// failureKey is where a context has its FormFailure.
type failureKey struct{}

// FormFailureFrom returns why the form on a page failed, or nil if ctx has no failure.
// [Auth.SignInAction], [Auth.SignOutAction] and [ContextWithFormFailure] put it there.
func FormFailureFrom(ctx context.Context) *FormFailure {
	f, _ := ctx.Value(failureKey{}).(*FormFailure)
	return f
}

// ContextWithFormFailure returns a context in which [FormFailureFrom] finds f, for
// integrations that show a page again.
func ContextWithFormFailure(ctx context.Context, f *FormFailure) context.Context {
	return context.WithValue(ctx, failureKey{}, f)
}

// newFormFailure returns the failure of a form that was refused for err, in the words of
// the user's language.
func newFormFailure(ctx context.Context, x *exchange, err error, in formInput) *FormFailure {
	t, words := failure.TypeOf(err), x.setup.pagesFor(ctx, &x.visit)
	f := &FormFailure{Status: http.StatusForbidden, Err: handOut(x, err)}
	if x.provider != nil {
		f.Values = in.shown(x.provider.info())
		f.view = page.Tried{Provider: x.provider.info().id, Typed: map[string]string{}}
		for name := range f.Values {
			f.view.Typed[name] = f.Values.Get(name)
		}
	}
	switch {
	case t == ErrEmailSignIn:
		f.Status = http.StatusInternalServerError
		if _, ok := errors.AsType[*unusable](err); ok {
			f.Status, f.view.Unusable = http.StatusBadRequest, true
			f.FieldErrors.Options = []string{words.Message("EmailSignin", f.view)}
			return f
		}
		f.FormErrors = []string{words.Message("EmailSignin", f.view)}
	case t == ErrCredentialsSignin:
		if many, ok := errors.AsType[*tooManyTries](err); ok {
			f.Status, f.wait, f.view.Wait = http.StatusTooManyRequests, secondsOf(many.wait), many.wait
		}
		f.FormErrors = []string{words.Message(string(t), f.view)}
	case t == ErrAccessDenied:
		f.FormErrors = []string{words.Text("error.denied.text")}
	case isOutage(err):
		f.FormErrors = []string{words.Text("error.away.text")}
	case shownType(t) == "Configuration":
		f.Status, f.FormErrors = http.StatusInternalServerError, []string{words.Text("error.configuration.text")}
	default:
		f.FormErrors = []string{words.Message(string(t), f.view)}
	}
	if isOutage(err) {
		f.Status, f.wait = http.StatusServiceUnavailable, retryAfter
	}
	return f
}

// formInput is the form of a sign-in or sign-out, taken apart.
type formInput struct {
	provider, redirectTo string
	fields               url.Values // for the provider, and csrfToken
	params               url.Values // authorization parameters
}

// typed returns the form as [SignInOptions].Form has it: the fields, and each
// authorization parameter after the prefix authorizationParams-.
func (in *formInput) typed() url.Values {
	typed := maps.Clone(in.fields)
	for name, values := range in.params {
		typed["authorizationParams-"+name] = values
	}
	return typed
}

// shown returns the values with which a page may fill its fields, and no secret. A nil p
// leaves out the provider's own fields.
func (in *formInput) shown(p *providerInfo) url.Values {
	shown := url.Values{}
	for name, value := range map[string]string{"providerId": in.provider, "redirectTo": in.redirectTo} {
		if value != "" {
			shown.Set(name, value)
		}
	}
	for name, values := range in.params {
		shown["authorizationParams-"+name] = values
	}
	if p == nil {
		return shown
	}
	for _, f := range shownFields(p) {
		if text := in.fields.Get(f.Name); text != "" {
			shown.Set(f.Name, text)
		}
	}
	return shown
}

// readSignIn parses the form of a sign-in. Auth.js has three ways to write one: fields,
// members of a JSON body, and fields with dots. wrong says what cannot be understood.
func readSignIn(x *exchange) (in formInput, wrong FieldErrors) {
	in.fields, in.params = url.Values{}, url.Values{}
	if id, ok := textIn(x.form, "providerId"); ok {
		in.provider = id
	} else {
		wrong.ProviderID = []string{"providerId must be a text: the id of a provider, such as github"}
	}
	in.redirectTo, wrong.RedirectTo = redirectIn(x.form)
	for _, name := range slices.Sorted(maps.Keys(x.form)) {
		value := x.form[name]
		switch kind, rest := cutField(name); kind {
		case "options":
			if !in.takeOption(rest, value) {
				wrong.Options = []string{"options must be an object of texts, numbers and booleans, such as {\"redirectTo\": \"/shop\"}"}
			}
		case "authorizationParams":
			if !in.takeParams(rest, value) {
				wrong.AuthorizationParams = []string{"authorizationParams must be a query such as prompt=login, or an object of texts"}
			}
		}
	}
	if to := in.fields.Get("redirectTo"); to != "" {
		in.redirectTo, wrong.RedirectTo = checkedRedirect(to, "options.redirectTo")
		in.fields.Del("redirectTo")
	}
	return in, wrong
}

// cutField splits the name of a field into kind and rest, the name after options. or
// authorizationParams. Any other name is one of an option; kind is "" for providerId and
// redirectTo.
func cutField(name string) (kind, rest string) {
	switch name {
	case "providerId", "redirectTo":
		return "", ""
	case "options", "authorizationParams":
		return name, ""
	}
	if rest, ok := strings.CutPrefix(name, "options."); ok {
		return "options", rest
	}
	for _, prefix := range []string{"authorizationParams-", "authorizationParams."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return "authorizationParams", rest
		}
	}
	return "options", name
}

// takeOption stores an option, but no empty text over an option that is there. With an empty
// name, value is an object of options, or its JSON. It returns false for any other value.
func (in *formInput) takeOption(name string, value any) bool {
	if name != "" {
		text, ok := plainText(value)
		if text != "" || !in.fields.Has(name) {
			in.fields.Set(name, text)
		}
		return ok
	}
	members, ok := value.(map[string]any)
	if text, isText := value.(string); isText { // of a form
		ok = text == "" || json.Unmarshal([]byte(text), &members) == nil
	}
	for name, value := range members {
		ok = ok && name != "" && in.takeOption(name, value)
	}
	return ok || value == nil
}

// takeParams stores an authorization parameter under its name. With an empty name, value
// is the object or the query of all. It returns false if value is none that a query could
// have.
func (in *formInput) takeParams(name string, value any) bool {
	if name != "" {
		text, ok := plainText(value)
		in.params.Set(name, text)
		return ok
	}
	switch all := value.(type) {
	case nil:
		return true
	case map[string]any:
		for name, value := range all {
			if text, ok := value.(string); !ok || name == "" || !in.takeParams(name, text) {
				return false
			}
		}
		return true
	case string:
		params, err := url.ParseQuery(strings.TrimPrefix(all, "?"))
		for name := range params {
			in.params.Set(name, params.Get(name))
		}
		return err == nil
	}
	return false
}

// plainText returns a value of JSON as a form would have sent it, or false if none could.
func plainText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// textIn returns a member of a form, or "" if it is absent. It returns false if it is no
// text.
func textIn(form map[string]any, name string) (string, bool) {
	value, there := form[name]
	if !there || value == nil {
		return "", true
	}
	text, ok := value.(string)
	return text, ok
}

// redirectIn returns the redirectTo of a form, or what is wrong with it: nil if nothing
// is.
func redirectIn(form map[string]any) (string, []string) {
	to, ok := textIn(form, "redirectTo")
	if !ok {
		return "", []string{"redirectTo must be a text: " + redirectCure}
	}
	return checkedRedirect(to, "redirectTo")
}

const redirectCure = "a path of the site, such as /shop, or an http(s) URL of it"

// checkedRedirect returns to, or an error text if to is malformed or too long. The text names
// the field name. An empty to is valid. [Callbacks].Redirect decides later where it may lead.
func checkedRedirect(to, name string) (string, []string) {
	if to == "" || weburl.Valid(to) && len(to) <= longestValue {
		return to, nil
	}
	return "", []string{name + " must be " + redirectCure}
}

// unknownProvider returns the text of the error for an unknown providerId. It names the
// configured ids, which are public.
func unknownProvider(s *setup, id string) string {
	var ids []string
	for _, p := range s.order {
		ids = append(ids, p.info().id)
	}
	return fmt.Sprintf("no provider has the providerId %q; there are %s", texts.Cut(id, 64), strings.Join(ids, ", "))
}
