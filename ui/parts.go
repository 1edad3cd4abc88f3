package ui

import (
	"regexp"
	"strings"
	"unicode"
)

// Box holds the parts of a sign-in box. All texts are in the visitor's language.
type Box struct {
	Class  string
	In     string // that a user is signed in already; empty: signed out
	Error  string // what went wrong, where no form says it; empty: nothing
	Groups [][]*Form
	Or     string // what stands between groups
	None   string // that there is no way to sign in; empty: there is
}

// Box returns a sign-in box: a form for each provider, in the order of the configuration.
// Neighbouring forms without visible inputs share a group. Every other form has a group of
// its own, and the first of these has the class latchkey-first, too.
func (p *Page) Box(props BoxProps) *Box {
	b := &Box{Class: class("latchkey-box", props.Class), Error: p.forms.Error, Or: p.forms.Text("signin.or")}
	if s := p.forms.Session; s != nil {
		b.In = p.forms.Text("signin.in", or(s.User.Email, or(s.User.Name, s.UserID)))
	}
	hasFirst, lastIsPlain := false, false
	for i := range p.forms.SignIn {
		from := &p.forms.SignIn[i]
		f := p.providerForm(from, SignInProps{Provider: from.Provider, SignInPage: props.SignInPage, RedirectTo: props.RedirectTo})
		isPlain := len(f.Inputs) == 0
		if !isPlain && !hasFirst {
			f.Class, hasFirst = class(f.Class, "latchkey-first"), true
		}
		if last := len(b.Groups) - 1; isPlain && lastIsPlain {
			b.Groups[last] = append(b.Groups[last], f)
		} else {
			b.Groups = append(b.Groups, []*Form{f})
		}
		lastIsPlain = isPlain
	}
	if len(b.Groups) == 0 {
		b.None = p.forms.Text("signin.none")
	}
	return b
}

// User holds the parts of a user button: the link to sign in, or the signed-in user with
// links to settings and sign-out. The fields from Name on are set if SignedIn is.
type User struct {
	Class     string
	SignedIn  bool
	SignInURL string
	SignIn    string // what the way in says

	Name       string // what to call them
	Email      string // empty: unknown, or their name
	Initial    string // in place of a picture
	Image      string // http, https or data URL of a picture, safe as it is; empty: none
	AccountURL string // empty: there is no such page
	Account    string // what the way there says
	SignOut    *Form
}

// User returns a user button, or without a session the link to sign in.
func (p *Page) User(props UserProps) *User {
	u := &User{Class: class("latchkey-user", props.Class), SignInURL: p.forms.SignInURL, SignIn: p.forms.Text("signedout.signin")}
	s := p.forms.Session
	if s == nil {
		return u
	}
	u.SignedIn = true
	u.Name = or(s.User.Name, or(s.User.Email, s.UserID))
	if s.User.Email != u.Name {
		u.Email = s.User.Email
	}
	u.Image = picture(s.User.Image)
	u.Initial = initial(u.Name)
	u.AccountURL, u.Account = or(props.AccountURL, p.forms.AccountURL), p.forms.Text("account.title")
	u.SignOut = p.SignOutForm(SignOutProps{SignOutPage: props.SignOutPage, RedirectTo: props.RedirectTo})
	return u
}

var embedded = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)

// picture returns image if it is an http or https URL, or a data URL of a PNG, JPEG, GIF
// or WebP in base64. It returns "" for anything else.
func picture(image string) string {
	if strings.HasPrefix(image, "https://") || strings.HasPrefix(image, "http://") || embedded.MatchString(image) {
		return image
	}
	return ""
}

// initial returns the first letter or digit of name in upper case, or "•" if it has none.
func initial(name string) string {
	at := strings.IndexFunc(name, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
	if at < 0 {
		return "•"
	}
	return string(unicode.ToUpper([]rune(name[at:])[0]))
}
