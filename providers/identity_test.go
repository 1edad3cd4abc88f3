package providers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// TestLargeIDs: an id that no float holds comes through.
func TestLargeIDs(t *testing.T) {
	const large = "9007199254740993"
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		subject := r.Identity.Subject
		number := regexp.MustCompile(`([:\[,]\s*)` + regexp.QuoteMeta(subject) + `(\s*[,}\]])`)
		raw := recordText(t, r.provider(e).ID)
		if _, counted := valueAt(map[string]any(r.Profile), strings.Split(r.idPath(), ".")).(json.Number); !counted {
			return // the id is text
		}
		raw = number.ReplaceAll(raw, []byte("${1}"+large+"$2"))
		within := regexp.MustCompile(`(["/])` + regexp.QuoteMeta(subject) + `([./"])`) // of a URL or an access token that has the id
		raw = within.ReplaceAll(raw, []byte("${1}"+large+"$2"))
		if got := signIn(t, e, parseRecord(t, raw)).attempt(t).Account.ProviderAccountID; got != large {
			t.Errorf("the subject is %q", got)
		}
	})
}

// identifier is what makes a person of a profile of the provider: its own mapping,
// or the library's, which is asked by signing in.
func identifier(t *testing.T, e catalogue.Entry, r recorded) func(latchkey.Claims) (latchkey.Identity, error) {
	t.Helper()
	p := r.derived(t, e)
	if p.Identify != nil {
		return func(c latchkey.Claims) (latchkey.Identity, error) {
			return p.Identify(latchkey.Grant{Profile: c, Params: r.query()})
		}
	}
	var profile latchkey.Claims
	s := newSiteOver(t, saying(http.StatusOK, []byte(tokenAnswer)), &latchkey.OAuth{
		ID: p.ID, Authorization: latchkey.Endpoint{URL: "https://id.example.com/a"}, Token: latchkey.Endpoint{URL: "https://id.example.com/t"},
		FetchProfile: func(context.Context, *http.Client, latchkey.Tokens) (latchkey.Claims, error) { return profile, nil },
	})
	return func(c latchkey.Claims) (latchkey.Identity, error) {
		profile, s.arrived = c, nil
		s.log.Reset()
		s.comeBack(t, p.ID)
		switch {
		case len(s.arrived) == 1:
			a := s.arrived[0]
			got := latchkey.Identity{Subject: a.Account.ProviderAccountID, Name: a.User.Name, Email: a.User.Email, Image: a.User.Image, Extra: a.User.Extra}
			if a.Account.EmailVouched {
				got.EmailTrust = r.Identity.EmailTrust
			}
			return got, nil
		case strings.Contains(s.log.String(), "the profile has no id"):
			return latchkey.Identity{}, nil
		}
		return latchkey.Identity{}, errors.New(s.log.String())
	}
}

// TestIdentities holds each mapping to its record, whatever of the profile is
// missing, null or of another type.
func TestIdentities(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		identify := identifier(t, e, r)
		before := fmt.Sprint(r.Profile)
		if got, err := identify(r.Profile); err != nil || fmt.Sprint(got) != fmt.Sprint(r.Identity) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, r.Identity)
		}
		for _, l := range leaves(r.Profile) {
			for _, nothing := range []any{nil, removed{}} {
				if got, err := identify(with(r.Profile, l.path, nothing)); err != nil || got.Subject != "" && got.Subject != r.Identity.Subject {
					t.Errorf("without %s: %+v, %v", l.path, got, err)
				}
			}
			got, err := identify(with(r.Profile, l.path, []any{"x@example.com"}))
			if strings.Contains(fmt.Sprint(got, err), "x@example.com") || err != nil && !strings.Contains(err.Error(), l.path[strings.LastIndex(l.path, ".")+1:]) {
				t.Errorf("a list as %s: %+v, %v; want an error that names the member and repeats nothing", l.path, got, err)
			}
		}
		if got, err := identify(nil); err != nil || got.Subject != "" {
			t.Errorf("R-069 of nothing: %+v, %v", got, err)
		}
		if fmt.Sprint(r.Profile) != before {
			t.Error("the profile was changed")
		}
	})
}

var handles = regexp.MustCompile(`(?i)(^|\.)(login|user_?name|e?mail|name|nick_?name|handle|slug|screen_name|preferred_username)$`)

// TestIDsNeverChange is R-067: nothing but the provider's own id says who
// somebody is, and that is no handle.
func TestIDsNeverChange(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		identify := identifier(t, e, r)
		id := r.idPath()
		if id == "" || handles.MatchString(id) && r.IDReason == "" {
			t.Errorf("the id is %q", id)
		}
		for _, l := range leaves(r.Profile) {
			got, err := identify(with(r.Profile, l.path, another(l.value)))
			if err != nil {
				continue
			}
			if changed := got.Subject != r.Identity.Subject; changed != (l.path == id) {
				t.Errorf("R-067 with another %s the subject is %q", l.path, got.Subject)
			}
		}
	})
}

// TestProfileTypes holds that no recorded member is lost on the way through a
// profile type.
func TestProfileTypes(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		raw, err := json.Marshal(r.Profile)
		if err != nil {
			t.Fatal(err)
		}
		typed := reflect.New(reflect.TypeOf(e.Profile))
		if err := json.Unmarshal(raw, typed.Interface()); err != nil {
			t.Fatal(err)
		}
		if raw, err = json.Marshal(typed.Interface()); err != nil {
			t.Fatal(err)
		}
		got := claimsIn(t, raw)
		for _, l := range leaves(r.Profile) {
			if l.value != nil && r.Untyped[l.path] == "" && !isSame(got, l) {
				t.Errorf("%s is lost: %v", l.path, l.value)
			}
		}
	})
}

// isSame allows for types that read several spellings: flags, lists of one.
func isSame(got latchkey.Claims, l leaf) bool {
	value := valueAt(map[string]any(got), strings.Split(l.path, "."))
	switch value := value.(type) {
	case bool:
		text := textOf(l.value)
		return value == (text == "true" || text == "1")
	case []any:
		return len(value) == 1 && textOf(value[0]) == textOf(l.value)
	}
	return textOf(value) == textOf(l.value)
}

func valueAt(in any, names []string) any {
	if len(names) == 0 {
		return in
	}
	if list, ok := in.([]any); ok {
		var i int
		if _, err := fmt.Sscan(names[0], &i); err != nil || i >= len(list) {
			return nil
		}
		return valueAt(list[i], names[1:])
	}
	object, _ := in.(map[string]any)
	for i := range names { // names of members may have dots in them
		if inner, there := object[strings.Join(names[:i+1], ".")]; there {
			return valueAt(inner, names[i+1:])
		}
	}
	return nil
}
