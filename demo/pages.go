package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
	"github.com/latchkeyhq/latchkey/users"
)

//go:embed templates style.css icon.svg logo.svg live.js
var files embed.FS

// view is what every page is made from.
type view struct {
	Title   string
	Path    string            // of the page, to mark it in the menu
	Session *latchkey.Session // nil: signed out
	UI      *ui.Page          // what the page is made of; nil: it needs none, and sets no cookie
	Content any
}

// Name returns what to call the signed-in user, or "" if no user is signed in.
func (v view) Name() string {
	switch {
	case v.Session == nil:
		return ""
	case v.Session.User.Name != "":
		return v.Session.User.Name
	case v.Session.User.Email != "":
		return v.Session.User.Email
	}
	return "a guest"
}

func (d *site) home(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "home", "Latchkey demo", struct {
		Username, Password string
		People             []string
		Ready, Unready     []guest
		Sessions           string
	}{aliceName, alicePassword, names(), d.guests(true), d.guests(false), d.sessions()})
}

// guest is a provider that works only with credentials in the environment.
type guest struct{ Name, Variables string }

// guests returns the guests that are set up if ready is true, and otherwise the others.
func (d *site) guests(ready bool) (list []guest) {
	if d.github == ready {
		list = append(list, guest{"GitHub", "AUTH_GITHUB"})
	}
	if d.google == ready {
		list = append(list, guest{"Google", "AUTH_GOOGLE"})
	}
	return list
}

func names() (list []string) {
	for _, p := range people {
		list = append(list, p.Name)
	}
	return list
}

func (d *site) members(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "members", "Members", nil)
}

// safe shows a page whose route asks for a proof that is at most a minute old.
func (d *site) safe(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "safe", "The safe", nil)
}

// invite invites an address, and shows the mail.
func (d *site) invite(w http.ResponseWriter, r *http.Request) {
	_, err := d.auth.Users().Invite(r.Context(), latchkey.Invitation{Email: r.PostFormValue("email"), CallbackURL: "/members"})
	if errors.As(err, new(*users.InputError)) {
		http.Error(w, "That is no e-mail address.", http.StatusUnprocessableEntity)
		return
	}
	if known, is := errors.AsType[*latchkey.Error](err); is && known.Code == "limit" {
		http.Error(w, "Too many mails went to this address. Please try again later.", http.StatusTooManyRequests)
		return
	}
	if err != nil {
		d.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/mailbox", http.StatusSeeOther)
}

// profile shows the session as a browser sees it.
func (d *site) profile(w http.ResponseWriter, r *http.Request) {
	session := latchkey.SessionFrom(r.Context())
	text, err := json.MarshalIndent(session, "", "  ")
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, "profile", "Profile", struct{ JSON, Sessions string }{string(text), d.sessions()})
}

// components shows the parts of package ui. After a failed sign-in it is called again, and
// answers with the status of the failure.
func (d *site) components(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	if f := latchkey.FormFailureFrom(r.Context()); f != nil {
		status = f.Status
	}
	d.show(w, r, status, "components", "Components", nil)
}

// ownForms returns the other origins that forms of the site lead to, for form-action of the
// Content-Security-Policy: browsers apply that to the redirect of a form as well.
func (d *site) ownForms() string {
	origins := []string{originOf(d.issuer)}
	if d.github {
		origins = append(origins, "https://github.com")
	}
	if d.google {
		origins = append(origins, "https://accounts.google.com")
	}
	return strings.Join(origins, " ")
}

func originOf(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (d *site) mailbox(w http.ResponseWriter, r *http.Request) {
	letters, err := d.mails.letters()
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, "mailbox", "Mailbox", struct {
		Letters   []letter
		LetterMay string
	}{letters, letterMay})
}

// letter sends the HTML of a mail in a sandbox: the mail may run and load nothing and sees
// no cookies, and its link opens a tab. An unknown mail, or one without HTML, is status 404.
func (d *site) letter(w http.ResponseWriter, r *http.Request) {
	l, found, err := d.mails.letter(r.PathValue("id"))
	switch {
	case err != nil:
		d.fail(w, r, err)
		return
	case !found || l.HTML == "":
		d.notFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", htmlText)
	h.Set("Cache-Control", "private, no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox "+letterMay)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, l.HTML) // the client is gone
}

// letterMay is what the frame around a mail allows: a link opens a tab that is
// an ordinary one.
const letterMay = "allow-popups allow-popups-to-escape-sandbox"

func (d *site) notFound(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusNotFound, "notfound", "Not found", nil)
}

// fail answers what should not happen; the reason goes into the log.
func (d *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	d.log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "error", err)
	http.Error(w, "Something went wrong.", http.StatusInternalServerError)
}

// show writes the page of the template called name. If that fails, it sends status 500.
func (d *site) show(w http.ResponseWriter, r *http.Request, status int, name, title string, content any) {
	v := view{Title: title, Path: r.URL.Path, Content: content}
	v.Session = latchkey.SessionFrom(r.Context())
	if v.Session != nil || name == "components" {
		var err error
		if v.UI, err = ui.New(d.auth, w, r); err != nil {
			d.fail(w, r, err)
			return
		}
	}
	var page bytes.Buffer
	if err := pages[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		d.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-store") // every page says who is signed in
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' https: data:; frame-src 'self'; form-action 'self' "+d.ownForms()+"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the client is gone
}

// pages are the templates by name, each inside the layout.
var pages = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range []string{"home", "members", "profile", "safe", "tokens", "components", "mailbox", "notfound", "desk", "audit", "health"} {
		all[name] = template.Must(template.New(name).Funcs(template.FuncMap{"list": list, "moment": moment}).
			ParseFS(files, "templates/layout.html", "templates/"+name+".html"))
	}
	return all
}()

// list writes names as people say them: a, b or c.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 MST") }

// asset serves an embedded file.
func asset(name, mediaType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, err := files.ReadFile(name)
		if err != nil {
			http.Error(w, "missing", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(content) // the client is gone
	}
}
