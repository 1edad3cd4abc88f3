package sitetest

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// desk is a site whose audit log is required, with users who have everything. Two desks
// are equal.
type desk struct {
	*managedSite
	shelf auditDesk
	ids   []string       // of the users
	named map[string]any // arguments of calls, by the name of the parameter
	typed map[reflect.Type]any
}

func newDesk(t *testing.T, change ...func(*latchkey.Config)) *desk {
	t.Helper()
	d := &desk{shelf: newAuditDesk()}
	d.managedSite = newManagedSite(t, latchkey.DatabaseSessions, append([]func(*latchkey.Config){withFactors, func(c *latchkey.Config) {
		c.Adapter = d.shelf
		c.Operations.Audit.Store, c.Operations.Audit.Required = true, true
		c.Invitations = true
		c.AccountPage.Edit, c.AccountPage.Export = latchkey.EditName|latchkey.EditImage|latchkey.EditEmail, true
		c.Mail.Send = d.send
	}}, change...)...)
	d.store = d.shelf.Adapter
	d.fill()
	return d
}

// send keeps a mail. The site is made before d has one.
func (d *desk) send(ctx context.Context, m latchkey.Message) error { return d.managedSite.send(ctx, m) }

// must ends the test if one of the errors is not nil.
func (d *desk) must(errs ...error) {
	d.t.Helper()
	if err := errors.Join(errs...); err != nil {
		d.t.Fatal(err)
	}
}

// fill stores users who have everything, and remembers what names each thing.
func (d *desk) fill() {
	ctx, now, all := d.t.Context(), d.clock.Now(), d.auth.Users()
	ann, kept := d.addUser(annMail, annsPass), d.addUser("kept@example.com", annsPass)
	staff, err := all.Create(ctx, users.NewUser{Name: "New", Email: "new@example.com"})
	f := &factorSite{testSite: d.testSite}
	f.enrol(ann.ID)
	d.must(err, all.Suspend(ctx, kept.ID, users.SuspendOptions{Reason: "x"}))
	d.ids = []string{ann.ID, kept.ID, staff.ID}
	account := storage.Account{UserID: ann.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: storage.Tokens{AccessToken: "a", RefreshToken: "r"}}
	key := storage.Authenticator{CredentialID: []byte("key"), UserID: ann.ID, ProviderAccountID: "a2V5", PublicKey: []byte("k"), DeviceType: "singleDevice", Created: now}
	d.must(d.store.LinkAccount(ctx, account), d.store.CreateAuthenticator(ctx, key),
		d.store.CreateSession(ctx, storage.StoredSession{Token: "t", ID: "s1", UserID: ann.ID, Expires: now.Add(time.Hour)}),
		d.store.Browsers().Put(ctx, storage.Browser{ID: "b", PublicID: "b1", UserID: ann.ID, Created: now, Seen: now, Expires: now.Add(time.Hour)}))
	link, err := all.Invite(ctx, users.Invitation{Email: "guest@example.com", NoMail: true})
	list, err2 := all.Invitations(ctx)
	app, err3 := all.BeginTOTP(ctx, ann.ID)
	factors, err4 := all.Factors(ctx, ann.ID)
	saved, err5 := all.SaveQuery(ctx, users.Query{}, "holder")
	d.must(err, err2, err3, err4, err5)
	if link == "" || len(list) != 1 || len(factors) != 1 {
		d.t.Fatal("the desk is not filled")
	}
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(app.Secret)
	d.must(err)
	g := &factorSite{testSite: d.testSite, secret: secret}
	ref := users.AccountRef{UserID: ann.ID, Provider: "acme", ProviderAccountID: "1"}
	d.named = map[string]any{
		"enrolmentID": app.ID, "name": "another", "code": g.code(0), "factorID": factors[0].ID, "id": list[0].ID, "password": annsPass, "hash": "some hash",
		"publicID": "b1", "email": annMail, "provider": "acme", "providerAccountID": "1", "redirectTo": "/", "holder": "holder", "saved": saved,
		"credentialID": []byte("key"), "sessionID": "s1", "keep": "s2",
	}
	d.typed = map[reflect.Type]any{}
	for _, v := range []any{
		users.NewUser{Email: "made@example.com"},
		users.Change{Name: ptr("Other")},
		users.Invitation{Email: "other@example.com"},
		users.Query{},
		users.EmailChange{Email: "moved@example.com"},
		users.SuspendOptions{Reason: "y"},
		ref,
		users.TokenOptions{},
	} {
		d.typed[reflect.TypeOf(v)] = v
	}
	d.typed[reflect.TypeFor[context.Context]()], d.typed[reflect.TypeFor[io.Writer]()] = ctx, io.Discard
}

// arguments returns the arguments of a call about a user. names are the parameters.
func (d *desk) arguments(call reflect.Value, names []string, userID string) (in []reflect.Value) {
	d.t.Helper()
	for i, name := range names {
		v, known := d.typed[call.Type().In(i)]
		if !known {
			v, known = d.named[name]
		}
		if name == "userID" {
			v, known = userID, true
		}
		if !known {
			d.t.Fatalf("R-660 the test has no value for the parameter %s", name)
		}
		in = append(in, reflect.ValueOf(v))
	}
	return in
}

// call calls a method of Users about a user, and returns its error.
func (d *desk) call(method string, names []string, userID string) error {
	d.t.Helper()
	call := reflect.ValueOf(d.auth.Users()).MethodByName(method)
	for _, out := range call.Call(d.arguments(call, names, userID)) {
		switch v := out.Interface().(type) {
		case error:
			return v
		case func(func(storage.User, error) bool):
			for range v {
			}
		}
	}
	return nil
}

// state is what a store holds but its audit log: all, and what is more than asked for. What
// is asked for are challenges and links, of which nothing has come yet. Tries are left out,
// which are counted before they are looked at, and so are those that were given back.
func (d *desk) state() (all, done string) {
	c := d.shelf.Contents()
	c.Audit = nil
	c.Challenges = slices.DeleteFunc(c.Challenges, func(c storage.Challenge) bool { return c.Purpose == string(challenge.Back) })
	for i := range c.Challenges {
		c.Challenges[i].Tries = 0
	}
	var lines, more []string
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		for j := range v.Field(i).Len() {
			line := name + " " + dump(v.Field(i).Index(j))
			if lines = append(lines, line); name != "Challenges" && name != "VerificationTokens" {
				more = append(more, line)
			}
		}
	}
	for _, id := range d.ids {
		s, err := d.store.Suspensions().Get(context.Background(), id)
		line := fmt.Sprint(id, s, err)
		lines, more = append(lines, line), append(more, line)
	}
	slices.Sort(lines)
	slices.Sort(more)
	return strings.Join(lines, "\n"), strings.Join(more, "\n")
}

// changed returns the lines in which two states differ.
func changed(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var lines []string
	for _, line := range old {
		if !slices.Contains(now, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// dump prints a value with what fmt hides.
func dump(v reflect.Value) string {
	if at, is := v.Interface().(time.Time); is {
		return at.UTC().String()
	}
	switch v.Kind() {
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !f.Anonymous {
				fmt.Fprintf(&b, "%s=%s ", f.Name, dump(v.Field(i)))
			}
		}
		return "{" + b.String() + "}"
	case reflect.Pointer:
		if !v.IsNil() {
			return dump(v.Elem())
		}
	}
	return fmt.Sprint(v.Interface())
}

// records returns the types of the events that succeeded, of the audit log after the first
// n.
func (d *desk) records(n int) (types []event.Type) {
	rows := d.shelf.Contents().Audit // the newest first
	for _, r := range rows[:len(rows)-n] {
		if r.Outcome == string(event.Succeeded) {
			types = append(types, event.Type(r.Type))
		}
	}
	return types
}

// isEnd reports whether all events tell that something was taken away from others who may
// have used it: no log may hold that up.
func isEnd(types []event.Type) bool {
	return !slices.ContainsFunc(types, func(t event.Type) bool {
		return t != event.SessionEnded && t != event.SessionsEnded && t != event.TokenDisconnected && t != event.ProviderLogout
	})
}

// deed is something that is done at a desk. It returns the error of it.
type deed func(d *desk) error

// checkRecorded compares what a deed does with an audit log that takes events, and with one
// that takes none. It reports whether the deed succeeds.
func checkRecorded(t *testing.T, build func() *desk, do deed) bool {
	t.Helper()
	well, ill := build(), build()
	_, before := well.state()
	n := len(well.shelf.Contents().Audit)
	err := do(well)
	_, after := well.state()
	types := well.records(n)
	if err == nil && after != before && len(types) == 0 {
		t.Errorf("R-660 it leaves no record, and changes\n%s", changed(before, after))
	}
	ill.shelf.broken.Store(true)
	was, _ := ill.state()
	refused := do(ill)
	is, _ := ill.state()
	switch {
	case err != nil || len(types) == 0:
	case isEnd(types):
		if refused != nil {
			t.Errorf("R-660 %v is refused: %v", types, refused)
		}
		ill.checkLoss(t, types)
	case !errors.Is(refused, latchkey.ErrAudit) || is != was:
		t.Errorf("R-660 %v is not refused: %v. It changes\n%s", types, refused, changed(was, is))
	}
	return err == nil
}

// checkLoss checks that the log tells how many events it has lost.
func (d *desk) checkLoss(t *testing.T, lost []event.Type) {
	t.Helper()
	d.shelf.broken.Store(false)
	if err := d.auth.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	page, err := d.auth.Audit().List(t.Context(), latchkey.AuditQuery{Type: event.AuditFailed})
	if err != nil || len(page.Events) != 1 || page.Events[0].Count != len(lost) {
		t.Errorf("R-660 %v: %+v, %v", lost, page.Events, err)
	}
}

// parametersOf returns the names of the parameters of the methods of Users.
func parametersOf(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../../users/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Recv == nil {
				continue
			}
			names := []string{}
			for _, field := range f.Type.Params.List {
				for _, name := range field.Names {
					names = append(names, name.Name)
				}
			}
			all[f.Name.Name] = names
		}
	}
	return all
}

// nothing that a method of Users does happens unrecorded where the audit log is
// required.
func TestUsersDoNothingUnrecorded(t *testing.T) {
	names := parametersOf(t)
	of := reflect.TypeFor[*latchkey.Users]()
	for i := range of.NumMethod() {
		method := of.Method(i).Name
		if names[method] == nil {
			continue // of an embedded type, such as String
		}
		t.Run(method, func(t *testing.T) {
			succeeds := false
			build := func() *desk { return newDesk(t) }
			for user := range build().ids {
				ok := checkRecorded(t, build, func(d *desk) error { return d.call(method, names[method], d.ids[user]) })
				succeeds = succeeds || ok
			}
			if !succeeds {
				t.Error("R-660 the test has no arguments with which the call succeeds")
			}
		})
	}
}
