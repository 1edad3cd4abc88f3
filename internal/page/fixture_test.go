package page

import (
	"html/template"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// mustNew is a renderer for the first language of o.
func mustNew(t testing.TB, o Options) *Renderer {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p.In("")
}

// says is an Options.Text that replaces some texts in every language.
func says(own words.Texts) func(language, key, text string) string {
	return func(_, key, _ string) string { return own[key] }
}

// mustParse gives the document of a page, and fails when it is not one.
func mustParse(t testing.TB, p Page, err error) *node {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parse(string(p.Body))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Body)
	}
	return doc
}

// one is the only element of a name.
func one(t testing.TB, in *node, name string) *node {
	t.Helper()
	found := in.all(name)
	if len(found) != 1 {
		t.Fatalf("%d <%s>, want one", len(found), name)
	}
	return found[0]
}

var someProviders = []Provider{
	{ID: "github", Name: "GitHub", Type: OAuth, Action: "https://shop.example/auth/signin/github"},
	{ID: "op", Name: "Test OP", Type: OIDC, Action: "https://shop.example/auth/signin/op", Brand: "#ffcc00"},
	{ID: "credentials", Name: "Credentials", Type: Credentials, Action: "https://shop.example/auth/callback/credentials", Fields: []Field{
		{Name: "username", Label: "Username", Type: "text", Placeholder: "your name"},
		{Name: "password", Label: "Password", Type: "password", Value: "secret"},
		{Name: "stay", Label: "Stay signed in", Type: "checkbox", Value: "yes"},
		{Name: "tenant", Type: "hidden", Value: "north"},
	}},
	{ID: "email", Type: Email, Action: "https://shop.example/auth/signin/email"},
	{ID: "passkey", Type: WebAuthn, Action: "https://shop.example/auth/callback/passkey", SignsUp: true},
}

var someSignIn = SignIn{
	CSRFToken: "c5f", CallbackURL: "https://shop.example/back?x=1", Error: "SessionRequired",
	Email: "me@example.com", Host: "shop.example", As: "ada@example.com", Providers: someProviders, Script: "/auth/passkey.js",
	FormOrigins: []string{"https://github.com/login/oauth/authorize", "http://op.example:9000"},
	SignUpURL:   "/auth/password?do=signup", ForgotURL: "/auth/password?do=forgot", Done: "reset",
}

var someAccount = Account{
	CSRFToken: "c5f", CallbackURL: "/account", Host: "shop.example", Origin: "https://shop.example", Name: "Ada", Email: "ada@example.com", Notice: "linked", Error: "last",
	Own: someOwn,
	Linked: []Linked{
		{Provider: someProviders[0], ProviderAccountID: "17", Detail: "ada", Removable: true},
		{Provider: someProviders[3], Detail: "ada@example.com"},
		{Provider: Provider{ID: "credentials", Type: Credentials}, Fixed: true},
	},
	UnlinkAction: "/account/unlink", Providers: someProviders[1:2],
	Devices: []Device{
		{ID: "d1", Name: "Firefox", System: "Linux", Detail: "London", Seen: time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC), This: true},
		{ID: "d2"},
	},
	Passkeys: Passkeys{
		Keys: []Passkey{
			{ID: "k1", Name: "Bitwarden", Created: time.Date(2026, 2, 3, 4, 5, 0, 0, time.UTC), Used: time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC), Removable: true},
			{ID: "k2"},
		},
		RenameAction: "/account/rename", RemoveAction: "/account/remove",
		Add: []Provider{{ID: "passkey", Name: "Passkey", Type: WebAuthn, Action: "/auth/callback/passkey"}},
	},
	SecondStep: SecondStep{
		Apps: []App{{ID: "a1", Name: "Phone", Created: time.Date(2026, 2, 3, 4, 5, 0, 0, time.UTC)}, {ID: "a2"}}, MailID: "m1",
		Browsers:  []TrustedBrowser{{ID: "b1", Name: "Firefox", System: "Linux", Until: time.Date(2026, 4, 1, 8, 30, 0, 0, time.UTC)}},
		AddAction: "/account/totp", MailAction: "/account/mail", RemoveAction: "/account/remove", RecoveryAction: "/account/recovery", ForgetAction: "/account/forget", StopAction: "/account/stop",
	},
	PasswordURL: "/auth/account?do=password", HasPassword: true, AddressURL: "/auth/account?do=email", Replacement: "new@example.com", KeepAction: "/auth/account?do=keep", RemovePassword: "/auth/account?do=unset",
	Browsers: []Device{{ID: "b1", Name: "Firefox", System: "Linux", Seen: time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC)}}, ForgetAction: "/auth/account?do=forget",
	Script:    "/auth/passkey.js",
	EndAction: "/account/end", OthersAction: "/account/others", SignOutURL: "/auth/signout", DeleteURL: "/account/delete",
}

// shown is a page under the name of what it shows.
type shown struct {
	name string
	page func(*Renderer) (Page, error)
}

// someFrame has everything that a page of the application's own can have.
var someFrame = Frame{CSRFToken: "c5f", Host: "shop.example", Page: frame.Page{
	Title: "People", Heading: "Ada Lovelace", Lead: "ada@example.com", Avatar: "Ada Lovelace", Tag: frame.Tag{Text: "Suspended", Kind: frame.Bad}, Wide: true,
	Back: frame.Link{Text: "All people", URL: "/admin/users"}, Done: "Saved.", Problem: "Not saved.",
	Parts: []frame.Part{
		{
			Search: &frame.Form{Action: "/admin/users/search", Submit: "Search", Fields: []frame.Field{{Name: "search", Label: "Name", Type: "search"}}},
			Links:  []frame.Link{{Text: "All", URL: "/admin/users", Current: true}, {Text: "Suspended", URL: "/admin/users?suspended=true"}},
		},
		{Heading: "Ways to sign in", Text: "Any of these.", Alert: "Card stolen.", Rows: []frame.Row{{
			Name: "Passkey", URL: "/p", Avatar: "Pixel", Details: []frame.Detail{{Text: "Pixel"}, {Text: "Added {time}", Time: time.Unix(1_800_000_000, 0)}},
			Tag: frame.Tag{Text: "Active", Kind: frame.Good}, Forms: []frame.Form{{Action: "/r", Submit: "Remove", Label: "Remove: Passkey", Danger: true, Hidden: []frame.Value{{Name: "passkey", Value: "AQ"}}}},
		}}, Forms: []frame.Form{{Action: "/restore", Submit: "Restore"}, {
			Action: "/suspend", Open: "Suspend", Submit: "Suspend", Danger: true, Text: "Ends all sessions.", Cancel: frame.Link{Text: "Cancel", URL: "/c"},
			Fields: []frame.Field{{Name: "until", Label: "Until", Type: "date", Hint: "Empty: for ever.", Required: true, Autocomplete: "off", MaxLength: 10}, {Name: "reason", Label: "Reason", Error: "Too long.", Value: "x"}, {Name: "sure", Label: "Sure", Type: "checkbox", Value: "1"}},
		}}},
	},
}}

// everyPage shows each page with everything it can have.
var everyPage = []shown{
	{"frame", func(r *Renderer) (Page, error) { return r.Frame(someFrame) }},
	{"signin", func(r *Renderer) (Page, error) { return r.SignIn(someSignIn) }},
	{"signedin", func(r *Renderer) (Page, error) {
		return r.SignedIn(SignedIn{As: "ada@example.com", Host: "shop.example", ContinueURL: "https://shop.example/back", SignOutURL: "/auth/signout"})
	}},
	{"signout", func(r *Renderer) (Page, error) {
		return r.SignOut(SignOut{CSRFToken: "c5f", CallbackURL: "/", Action: "https://shop.example/auth/signout", CancelURL: "https://shop.example/", Host: "shop.example"})
	}},
	{"signedout", func(r *Renderer) (Page, error) {
		return r.SignedOut(SignedOut{Host: "shop.example", Origin: "https://shop.example", SignInURL: "/auth/signin"})
	}},
	{"verify", func(r *Renderer) (Page, error) {
		return r.VerifyRequest(VerifyRequest{
			Host: "shop.example", Origin: "https://shop.example", Email: "me@example.com", Again: true,
			CSRFToken: "c5f", Action: "/auth/signin/email", SignInURL: "/auth/signin",
		})
	}},
	{"confirm", func(r *Renderer) (Page, error) {
		return r.Confirm(Confirm{
			CSRFToken: "c5f", Action: "https://shop.example/auth/callback/email", Email: "me@example.com",
			Hidden: []Hidden{{"token", "70ken"}, {"email", "me@example.com"}}, Host: "shop.example",
		})
	}},
	{"invite", func(r *Renderer) (Page, error) {
		return r.Invite(Invite{
			CSRFToken: "c5f", Action: "https://shop.example/auth/invite", Email: "me@example.com",
			Hidden: []Hidden{{"token", "70ken"}}, Host: "shop.example", Origin: "https://shop.example",
		})
	}},
	{"error", func(r *Renderer) (Page, error) {
		return r.Error(Error{
			Code: "AccessDenied", Host: "shop.example", Origin: "https://shop.example", SignInURL: "https://shop.example/auth/signin",
		})
	}},
	{"account", func(r *Renderer) (Page, error) { return r.Account(someAccount) }},
	{"password", func(r *Renderer) (Page, error) {
		return r.Password(Password{
			Step: SignUpStep, CSRFToken: "c5f", Action: "/auth/password?do=signup", Host: "shop.example", Email: "me@example.com", MinLength: 8,
			Fields: []Field{{Name: "name", Label: "Name"}}, Error: "short", SignInURL: "/auth/signin",
		})
	}},
	{"delete", func(r *Renderer) (Page, error) {
		return r.DeleteAccount(DeleteAccount{CSRFToken: "c5f", Action: "/account/delete", CancelURL: "/account", Name: "ada@example.com", Host: "shop.example"})
	}},
	{"reauth", func(r *Renderer) (Page, error) {
		return r.Reauth(Reauth{SignInURL: "/auth/signin", CancelURL: "/account", Host: "shop.example", Deletes: true})
	}},
	{"prove", func(r *Renderer) (Page, error) {
		return r.Prove(Prove{
			CSRFToken: "c5f", Action: "/auth/reauth", SendAction: "/auth/reauth?do=send", SignInURL: "/auth/signin", SignOutURL: "/auth/signout", CancelURL: "/",
			Host: "shop.example", Name: "a•••@example.com", Use: "password", Wrong: true, Others: []OtherProof{{"totp", "", "/auth/reauth?use=totp"}, {"provider", "Acme", "/auth/reauth?use=provider"}},
		})
	}},
	{"factor", func(r *Renderer) (Page, error) {
		return r.Factor(Factor{
			CSRFToken: "c5f", Action: "/auth/factor", CancelAction: "/auth/factor?do=cancel", SendAction: "/auth/factor?do=send", Use: "totp",
			Name: "a•••@example.com", Host: "shop.example", Wrong: true, Remember: 30, Others: []OtherFactor{{"recovery", "/auth/factor?use=recovery"}}, LostURL: "/auth/factor?do=lost",
		})
	}},
	{"enrol", func(r *Renderer) (Page, error) {
		return r.Enrol(Enrol{
			CSRFToken: "c5f", Action: "/auth/factor", CancelAction: "/auth/factor?do=cancel", Host: "shop.example", Required: true, Wrong: true,
			URI: "otpauth://totp/shop:ada?secret=ABCD", Secret: "ABCD EFGH", Image: `<svg role="img" aria-label="` + template.HTMLEscapeString(r.Text("enrol.image")) + `"></svg>`,
		})
	}},
	{"codes", func(r *Renderer) (Page, error) {
		return r.Codes(Codes{CSRFToken: "c5f", Action: "/auth/factor?do=codes", Codes: []string{"ABCD-1234", "EFGH-5678"}, Host: "shop.example"})
	}},
	{"remind", func(r *Renderer) (Page, error) {
		return r.Remind(Remind{Host: "shop.example", EnrolURL: "/auth/account?do=totp", ContinueURL: "/"})
	}},
	{"offer", func(r *Renderer) (Page, error) {
		return r.Offer(Offer{CSRFToken: "c5f", Provider: "passkey", Action: "/auth/callback/passkey", CallbackURL: "/orders", Host: "shop.example", Script: "/auth/client/passkeys.js"})
	}},
	{"lost-ask", func(r *Renderer) (Page, error) {
		return r.Lost(Lost{Step: LostAsk, CSRFToken: "c5f", Action: "/auth/factor?do=lost", BackURL: "/", Host: "shop.example"})
	}},
	{"lost-begun", func(r *Renderer) (Page, error) {
		return r.Lost(Lost{Step: LostAsk, Done: true, BackURL: "/", Host: "shop.example"})
	}},
	{"lost-stop", func(r *Renderer) (Page, error) {
		return r.Lost(Lost{Step: LostStop, CSRFToken: "c5f", Action: "/auth/factor?do=stop&token=70ken", BackURL: "/", Host: "shop.example"})
	}},
	{"lost-stopped", func(r *Renderer) (Page, error) {
		return r.Lost(Lost{Step: LostStop, Done: true, BackURL: "/", Host: "shop.example"})
	}},
	{"lost-remove", func(r *Renderer) (Page, error) {
		return r.Lost(Lost{Step: LostRemove, CSRFToken: "c5f", Action: "/auth/factor?do=remove&token=70ken", BackURL: "/", Host: "shop.example"})
	}},
	{"farewell", func(r *Renderer) (Page, error) {
		return r.Farewell(Farewell{Host: "shop.example", Origin: "https://shop.example"})
	}},
}

// passwordPages shows every step of a password.
func passwordPages() (all []shown) {
	for _, step := range passwordSteps {
		v := Password{
			Step: step, CSRFToken: "c5f", Action: "/auth/password?do=" + string(step), Host: "shop.example", Email: "me@example.com", MinLength: 8,
			Hidden: []Hidden{{"token", "70ken"}}, Current: step == ChangeStep, CancelURL: "/auth/account", SignInURL: "/auth/signin",
		}
		all = append(all, shown{"password", func(r *Renderer) (Page, error) { return r.Password(v) }})
		for _, code := range []string{"short", "long", "common", "context", "repeated", "breached", "control", "wrong", "address", "~"} {
			wrong := v
			wrong.Error, wrong.New = code, true
			all = append(all, shown{"password", func(r *Renderer) (Page, error) { return r.Password(wrong) }})
		}
	}
	return all
}

// filled sets every string of a view, however deep, and gives each list two
// items.
func filled[T any](s string) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), s)
	return v
}

func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), s)
		}
	}
}

// pagesOf renders all pages with one string in every place of every view.
func pagesOf(t testing.TB, r *Renderer, s string) []Page {
	t.Helper()
	signIn := filled[SignIn](s)
	form := filled[Provider](s)
	form.Type = Credentials
	signIn.Providers = append(signIn.Providers, form, Provider{ID: s, Name: s, Action: s, Type: Email}, Provider{ID: s, Action: s, Type: WebAuthn})
	hidden := form
	hidden.Fields = []Field{{Name: s, Value: s, Type: "hidden"}, {Name: s, Value: s, Type: "checkbox"}, {Name: s, Type: "password", Value: s}}
	signIn.Providers = append(signIn.Providers, hidden)
	account := filled[Account](s)
	account.Linked[0].Removable = true
	account.Devices[0].This = true
	var pages []Page
	for _, render := range []func() (Page, error){
		func() (Page, error) { return r.SignIn(signIn) },
		func() (Page, error) { return r.SignedIn(filled[SignedIn](s)) },
		func() (Page, error) { return r.SignOut(filled[SignOut](s)) },
		func() (Page, error) { return r.SignedOut(filled[SignedOut](s)) },
		func() (Page, error) { return r.VerifyRequest(filled[VerifyRequest](s)) },
		func() (Page, error) { return r.Confirm(filled[Confirm](s)) },
		func() (Page, error) { return r.Error(filled[Error](s)) },
		func() (Page, error) { return r.Account(account) },
		func() (Page, error) { return r.DeleteAccount(filled[DeleteAccount](s)) },
		func() (Page, error) { return r.Reauth(filled[Reauth](s)) },
		func() (Page, error) { return r.Activity(filled[Activity](s)) },
		func() (Page, error) { return r.Export(filled[Export](s)) },
		func() (Page, error) { return r.Profile(filledProfile(s)) },
		func() (Page, error) { return r.Prove(filled[Prove](s)) },
		func() (Page, error) { return r.Farewell(filled[Farewell](s)) },
		func() (Page, error) { return r.Password(filled[Password](s)) },
		func() (Page, error) { return r.Password(resetPassword(s)) },
		func() (Page, error) { return r.Invite(filled[Invite](s)) },
		func() (Page, error) { return r.Factor(filled[Factor](s)) },
		func() (Page, error) { return r.Codes(filled[Codes](s)) },
		func() (Page, error) { return r.Remind(filled[Remind](s)) },
		func() (Page, error) { return r.Offer(filled[Offer](s)) },
		func() (Page, error) { return r.Lost(filled[Lost](s)) },
		func() (Page, error) { return r.Problem(filled[Problem](s)) },
		func() (Page, error) { return r.SignIn(triedSignIn(s)) },
	} {
		p, err := render()
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	return pages
}

// triedSignIn is a sign-in page on which every form was sent in vain.
func triedSignIn(s string) SignIn {
	v := filled[SignIn](s)
	for i, kind := range []string{Credentials, Email} {
		v.Providers[i].Type, v.Providers[i].ID = kind, s
	}
	v.Tried = Tried{Provider: s, Typed: map[string]string{s: s, "email": s}}
	return v
}

// directives are the names of a policy's parts, in order.
func directives(policy string) []string {
	var names []string
	for part := range strings.SplitSeq(policy, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		names = append(names, name)
	}
	return names
}

// filledProfile is the form of a profile with one string in every place.
func filledProfile(s string) Profile {
	v := filled[Profile](s)
	v.Name, v.Image = &ProfileField{s, s, true}, &ProfileField{s, s, true}
	return v
}

// resetPassword is a page for a new password with one string in every place.
func resetPassword(s string) Password {
	v := filled[Password](s)
	v.Step, v.Current, v.New = ResetStep, true, true
	return v
}
