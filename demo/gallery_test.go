package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// The gallery: every built-in page, with all that it can have. What looks at pages knows
// none of them by name.

// exhibit is a page as a browser gets it.
type exhibit struct {
	name   string
	status int
	header http.Header
	body   []byte
}

// acting is a view that an administrator sees who acts as the user.
type acting struct{ view any }

// gallery returns the pages of a language: those of package page, then those of package
// admin.
func gallery(t *testing.T, tag string) []exhibit {
	t.Helper()
	pages, err := page.New(page.Options{Theme: page.Theme{Contact: "help@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	var all []exhibit
	for _, view := range everyView(t) {
		s, err := render(pages.In(tag), view)
		if err != nil {
			t.Fatal(err)
		}
		s.name = fmt.Sprintf("%d-%s", len(all), s.name)
		all = append(all, s)
	}
	for _, s := range adminPages(t, tag) {
		s.name = fmt.Sprintf("%d-%s", len(all), s.name)
		all = append(all, s)
	}
	return all
}

// render renders a view by the method of the renderer that has the name of its type.
func render(r *page.Renderer, view any) (exhibit, error) {
	if a, is := view.(acting); is {
		s, err := render(r.Acting("/"), a.view)
		s.name = "Acting-" + s.name
		return s, err
	}
	name := reflect.TypeOf(view).Name()
	out := reflect.ValueOf(r).MethodByName(name).Call([]reflect.Value{reflect.ValueOf(view)})
	err, _ := out[1].Interface().(error)
	p := out[0].Interface().(page.Page)
	s := exhibit{name: name, status: p.Status, header: http.Header{}, body: p.Body}
	p.SetHeaders(s.header)
	return s, err
}

// everyView returns the views of package page, so that each field of each view is set in
// one of them.
func everyView(t *testing.T) []any {
	t.Helper()
	all := slices.Concat(signInViews(), problemViews(), passwordViews(), factorViews(t), accountViews())
	return append(all, acting{fullAccount("", "")}, acting{page.SignOut{CancelURL: "/", Host: longHost, Action: "/"}})
}

var reference = &page.Reference{Code: "7K2M-9QXR-4TBW", Time: time.Unix(1_700_000_000, 0)}

func signInViews() (all []any) {
	for _, code := range []string{"", "Signin", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "other"} {
		all = append(all, page.SignIn{Host: longHost, Error: code, As: longEmail, Email: longEmail, Providers: manyProviders(3), CallbackURL: "/", SignUpURL: "/", ForgotURL: "/"})
	}
	for _, tried := range []page.Tried{
		{Provider: "crew", Typed: map[string]string{"username": longEmail}},
		{Provider: "post", Unusable: true},
		{Provider: "crew", Unknown: true},
		{Provider: "crew", Wait: time.Hour},
		{Provider: "post", Wait: time.Second},
	} {
		all = append(all, page.SignIn{Host: longHost, Error: "CredentialsSignin", Tried: tried, Providers: manyProviders(9), Reference: reference})
	}
	for _, done := range []string{"reset", "recovery", "address", "kept"} {
		all = append(all, page.SignIn{Host: longHost, Done: done, Providers: manyProviders(1), Script: "/passkeys.js"})
	}
	for _, over := range []string{"expired", "ended"} {
		all = append(all, page.SignIn{Host: longHost, Over: over, Providers: manyProviders(2)})
	}
	return append(all, page.SignIn{},
		page.SignedIn{As: longEmail, Host: longHost, ContinueURL: "/", SignOutURL: "/"},
		page.SignOut{CancelURL: "/", Host: longHost, Action: "/", CallbackURL: "/"},
		page.SignedOut{Host: longHost, Origin: "/", SignInURL: "/"},
		page.VerifyRequest{Host: longHost, Origin: "/"},
		page.VerifyRequest{Host: longHost, Origin: "/", Email: longEmail, Again: true, SignInURL: "/", Action: "/", CallbackURL: "/"},
		page.VerifyRequest{Host: longHost, Origin: "/", Email: longEmail, About: "signup", CodeAction: "/", CodeDigits: 8, CodeWrong: true},
		page.VerifyRequest{Host: longHost, Origin: "/", Email: longEmail, About: "reset"},
		page.VerifyRequest{Host: longHost, Origin: "/", About: "move", CodeAction: "/", CodeDigits: 8},
		page.Confirm{Host: longHost, Action: "/"},
		page.Confirm{Host: longHost, Action: "/", Email: longEmail, Hidden: []page.Hidden{{Name: "token", Value: "x"}}},
		page.Invite{Action: "/", Email: longEmail, Host: longHost, Origin: "/", Hidden: []page.Hidden{{Name: "token", Value: "x"}}},
		page.Invite{Email: longEmail, Host: longHost, Origin: "/", As: longEmail, SignOutURL: "/"},
		page.Invite{Gone: true, Host: longHost, Origin: "/"})
}

func problemViews() (all []any) {
	for _, code := range []string{"", "Configuration", "AccessDenied", "Verification"} {
		all = append(all, page.Error{Code: code, Host: longHost, Origin: "/", SignInURL: "/", Reference: reference})
	}
	all = append(all, page.Error{Code: "AccessDenied", Suspended: true, Until: time.Unix(1_900_000_000, 0), Host: longHost, Origin: "/", SignInURL: "/"})
	for _, kind := range []page.Kind{page.Forbidden, page.Missing, page.Refused, page.Away} {
		all = append(all, page.Problem{Kind: kind, As: longEmail, Host: longHost, Origin: "/", SignInURL: "/", AgainURL: "/", Reference: reference})
	}
	return all
}

func passwordViews() (all []any) {
	fields := []page.Field{{Name: "name", Label: "Name", Type: "text", Autocomplete: "name", Placeholder: "Ada Lovelace", Value: "Ada", Required: true}}
	for _, step := range []page.PasswordStep{
		page.SignUpStep, page.ForgotStep, page.VerifyStep, page.ResetStep, page.ChangeStep, page.AddressStep, page.MoveStep, page.UndoStep, page.RegainStep, page.KeepStep,
	} {
		v := page.Password{Step: step, Action: "/", Host: longHost, Email: longEmail, MinLength: 15, CancelURL: "/", SignInURL: "/", Fields: fields}
		all = append(all, v)
		v.Code, v.Current, v.New, v.Hidden = true, true, true, []page.Hidden{{Name: "token", Value: "x"}}
		v.Same, v.Invited, v.Error = step == page.MoveStep, step == page.VerifyStep, "short"
		all = append(all, v)
	}
	for _, code := range []string{"long", "common", "context", "repeated", "breached", "control", "wrong", "factor", "other"} {
		all = append(all, page.Password{Step: page.ChangeStep, Action: "/", Host: longHost, Email: longEmail, MinLength: 15, Current: true, Code: true, Error: code, CancelURL: "/"})
	}
	return append(all, page.Offer{Provider: "passkey", Action: "/", CallbackURL: "/", Host: longHost, Script: "/passkeys.js"})
}

func factorViews(t *testing.T) (all []any) {
	t.Helper()
	kinds := []string{"totp", "passkey", "email", "recovery"}
	for i, use := range kinds {
		v := page.Factor{Action: "/", CancelAction: "/", SendAction: "/", Use: use, Name: "s***@department.example.com", Host: longHost, Remember: 30, Provider: "passkey", LostURL: "/", Script: "/passkeys.js"}
		for _, other := range kinds {
			v.Others = append(v.Others, page.OtherFactor{Kind: other, URL: "/"})
		}
		all = append(all, v)
		v.Wrong, v.Sent = true, i%2 == 0
		all = append(all, v)
	}
	secret := []byte("a secret of an app..")
	picture, err := otp.SVG(otp.URI(longHost, longEmail, secret), "QR")
	if err != nil {
		t.Fatal(err)
	}
	enrol := page.Enrol{Action: "/", CancelURL: "/", Name: longEmail, Host: longHost, URI: otp.URI(longHost, longEmail, secret), Image: picture, Secret: otp.Grouped(otp.Text(secret))}
	all = append(all, enrol)
	enrol.CancelAction, enrol.Required, enrol.Wrong = "/", true, true
	all = append(all, enrol, page.Remind{Host: longHost, EnrolURL: "/", ContinueURL: "/"},
		page.Codes{Action: "/", Host: longHost, Codes: slices.Repeat([]string{"abcd-efgh-jkmn-pqrs"}, 10)})
	for _, step := range []page.LostStep{page.LostAsk, page.LostStop, page.LostRemove} {
		for _, done := range []bool{false, true} {
			all = append(all, page.Lost{Step: step, Done: done, Action: "/", BackURL: "/", Host: longHost})
		}
	}
	return append(all, proveViews()...)
}

func proveViews() (all []any) {
	uses := []string{"totp", "passkey", "email", "recovery", "password", "provider"}
	for i, use := range uses {
		v := page.Prove{
			Action: "/", SendAction: "/", SignInURL: "/", SignOutURL: "/", CancelURL: "/", Host: longHost, Name: longEmail,
			Use: use, Provider: "passkey", ProviderName: "Microsoft Entra ID", Script: "/passkeys.js",
		}
		for _, other := range uses {
			v.Others = append(v.Others, page.OtherProof{Use: other, Name: "Microsoft Entra ID", URL: "/"})
		}
		all = append(all, v)
		v.Wrong, v.Failed, v.Sent = true, i%2 == 0, i%2 == 1
		all = append(all, v)
	}
	return append(all, page.Prove{SignInURL: "/", CancelURL: "/", Host: longHost}, page.Prove{Spent: true, SignOutURL: "/", CancelURL: "/", Host: longHost})
}

func accountViews() (all []any) {
	for _, notice := range []string{"linked", "unlinked", "ended", "others"} {
		all = append(all, fullAccount(notice, "other"))
	}
	for _, failed := range []string{"last", "taken", "link", "confirm", "lastfactor", "unverified"} {
		all = append(all, fullAccount("", failed))
	}
	all = append(all, page.Account{Name: "Ada", DeleteURL: "/"}, page.DeleteAccount{Action: "/", Name: longEmail, CancelURL: "/", Host: longHost, Error: true})
	for _, deletes := range []bool{true, false} {
		field := page.ProfileField{Value: strings.Repeat("long", 20), Was: "long", Wrong: deletes}
		all = append(all, page.Reauth{SignInURL: "/", CancelURL: "/", Host: longHost, Deletes: deletes, Exports: true},
			page.Profile{BackURL: "/", Host: longHost, Action: "/", Name: &field, Image: &field},
			page.Export{BackURL: "/", Host: longHost, Action: "/", Wait: deletes})
	}
	return append(all, page.Activity{BackURL: "/", Host: longHost, List: someActivity()}, page.Activity{BackURL: "/", Host: longHost},
		page.Farewell{Host: longHost, Origin: "/"}, fullFrame())
}

// fullFrame has all that applications can put on a page of their own.
func fullFrame() page.Frame {
	link := frame.Link{Text: "Link", URL: "/", Current: true}
	field := frame.Field{Name: "a", Label: "Field", Type: "email", Value: longEmail, Hint: "Hint", Required: true, Autocomplete: "email", MaxLength: 100}
	wrong := frame.Field{Name: "b", Label: "Box", Type: "checkbox", Value: "yes", Error: "Wrong"}
	button := frame.Form{Action: "/", Submit: "Press", Label: "Press this", Danger: true, Hidden: []frame.Value{{Name: "c", Value: "d"}}}
	form := frame.Form{Action: "/", Submit: "Save", Open: "Open", Text: longHost, Cancel: link, Fields: []frame.Field{field, wrong}}
	closed := frame.Form{Action: "/", Submit: "Save", Open: "Closed", Fields: []frame.Field{{Name: "e", Label: "Field"}}}
	row := frame.Row{
		Name: longEmail, URL: "/", Avatar: "Ada Lovelace", Details: []frame.Detail{{Text: "Since {time}", Time: time.Unix(1_700_000_000, 0)}},
		Tag: frame.Tag{Text: "Tag", Kind: frame.Bad}, Forms: []frame.Form{button, closed},
	}
	return page.Frame{Host: longHost, Page: frame.Page{
		Status: http.StatusUnprocessableEntity, Title: "Title", Heading: longHost, Lead: longEmail, Avatar: "Ada Lovelace", Tag: frame.Tag{Text: "Tag"}, Wide: true,
		Back: link, Action: link, Done: longHost, Problem: longHost,
		Parts: []frame.Part{
			{Heading: "Part", Text: longHost, Alert: longHost, Links: []frame.Link{link, link}, Rows: []frame.Row{row, {Name: "Bare"}}, Forms: []frame.Form{form, button, closed}},
			{Search: &frame.Form{Action: "/", Submit: "Search", Fields: []frame.Field{{Name: "f", Label: "Search", Type: "search"}}}},
		},
	}}
}

// unseen are fields that change nothing of what a page looks like.
var unseen = []string{"CSRFToken", "FormOrigins", "ProviderAccountID", "Confirm.AtOnce"}

// a page, or something that a page can have, cannot be left out of the gallery.
func TestNoPageIsForgotten(t *testing.T) {
	views := everyView(t)
	set, made := map[string]bool{}, map[string]bool{}
	for _, view := range views {
		if a, is := view.(acting); is {
			view = a.view
		}
		made[reflect.TypeOf(view).Name()] = true
		mark(set, reflect.ValueOf(view))
	}
	renderer := reflect.TypeFor[*page.Renderer]()
	for i := range renderer.NumMethod() {
		if m := renderer.Method(i); m.Type.NumOut() == 2 && m.Type.Out(0) == reflect.TypeFor[page.Page]() && !made[m.Name] {
			t.Errorf("R-792: no page of Renderer.%s", m.Name)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if !set[field] && !slices.ContainsFunc(unseen, func(part string) bool { return strings.Contains(field, part) }) {
			t.Errorf("R-792: no page sets %s", field)
		}
	}
	all := gallery(t, "en")
	headings := map[string]bool{}
	bodies := ""
	for _, s := range all {
		for _, h1 := range regexp.MustCompile(`<h1>(?:<bdi>)?([^<]*)`).FindAllStringSubmatch(string(s.body), -1) {
			headings[h1[1]] = true
		}
		bodies += string(s.body)
	}
	for key, text := range words.English() {
		if strings.HasSuffix(key, ".heading") && !headings[text] {
			t.Errorf("R-792: no page has the heading %s: %q", key, text)
		}
	}
	source, err := os.ReadFile("../admin/admin.go")
	if err != nil {
		t.Fatal(err)
	}
	actions := regexp.MustCompile(`Action = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(actions) < 17 {
		t.Fatalf("%d actions", len(actions))
	}
	for _, action := range actions[3:] { // behind list, view and create
		if !strings.Contains(bodies, "/"+action[1]+`"`) {
			t.Errorf("R-792: no page of package admin has the action %s", action[1])
		}
	}
}

// mark notes the fields of v and of what it holds: true if one of them is set.
func mark(set map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			mark(set, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			mark(set, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			mark(set, v.Field(i))
		}
	}
}
