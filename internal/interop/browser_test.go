package interop

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

type object = map[string]any

// browserRow is a call of a published browser client. SITE stands for the site's
// origin, and "*" for any text.
type browserRow struct {
	name, call, args string
	result           string
	location         string // empty: the window stays where it is
}

// browserRows are calls of next-auth/react, in the order of one browser's day.
var browserRows = []browserRow{
	{"nobody is signed in", "getSession", `[]`, `null`, ""},
	{"the providers", "getProviders", `[]`, `{
		"credentials": {"id":"credentials","name":"Credentials","type":"credentials","signinUrl":"SITE/auth/signin/credentials","callbackUrl":"SITE/auth/callback/credentials"},
		"email": {"id":"email","name":"Email","type":"email","signinUrl":"SITE/auth/signin/email","callbackUrl":"SITE/auth/callback/email"}}`, ""},
	{"a CSRF token", "getCsrfToken", `[]`, `"*"`, ""},
	{
		"a wrong password", "signIn", `["credentials",{"redirect":false,"username":"ada","password":"wrong"}]`,
		`{"error":"CredentialsSignin","code":"credentials","status":200,"ok":true,"url":null}`, "",
	},
	{
		"a wrong password, with the window", "signIn", `["credentials",{"username":"ada","password":"wrong"}]`,
		`null`, "SITE/auth/signin?error=CredentialsSignin&code=credentials",
	},
	{"still nobody", "getSession", `[]`, `null`, ""},
	{
		"the right password", "signIn", `["credentials",{"redirect":false,"username":"ada","password":"lovelace","redirectTo":"/inbox?a=b#c"}]`,
		`{"status":200,"ok":true,"url":"SITE/inbox?a=b#c"}`, "",
	},
	{"ada is signed in", "getSession", `[]`, `{"user":{"name":"ada","email":"ada@example.com","image":null},"expires":"*"}`, ""},
	{"as somebody else, with the window", "signIn", `["credentials",{"username":"Žofia","password":"lovelace","callbackUrl":"SITE/inbox"}]`, `null`, "SITE/inbox"},
	{"Žofia is signed in", "getSession", `[{"broadcast":false}]`, `{"user":{"name":"Žofia","email":"žofia@example.com","image":null},"expires":"*"}`, ""},
	{
		"a component", "useSession", `[]`,
		`{"before":{"user":{"name":"Žofia","email":"žofia@example.com","image":null},"expires":"*"},
		  "data":{"user":{"name":"Žofia","email":"žofia@example.com","image":null},"expires":"*"},"status":"authenticated"}`, "",
	},
	{
		"an update", "useSession", `["Zoë"]`,
		`{"before":{"user":{"name":"Žofia","email":"žofia@example.com","image":null},"expires":"*"},
		  "data":{"user":{"name":"Zoë","email":"žofia@example.com","image":null},"expires":"*"},"status":"authenticated"}`, "",
	},
	{"the update stays", "getSession", `[]`, `{"user":{"name":"Zoë","email":"žofia@example.com","image":null},"expires":"*"}`, ""},
	{
		"a magic link", "signIn", `["email",{"redirect":false,"email":"ada@example.com"}]`,
		`{"status":200,"ok":true,"url":"SITE/auth/verify-request?provider=email&type=email"}`, "",
	},
	{
		"a magic link to no mailbox", "signIn", `["email",{"redirect":false,"email":"nobody"}]`,
		`{"error":"Configuration","status":200,"ok":true,"url":null}`, "",
	},
	{"an unknown provider", "signIn", `["unknown",{"callbackUrl":"/inbox"}]`, `null`, "/auth/signin?callbackUrl=%2Finbox"},
	{"to another site after signing out", "signOut", `[{"redirect":false,"redirectTo":"https://other.example/"}]`, `{"url":"SITE"}`, ""},
	{"nobody is left", "getSession", `[]`, `null`, ""},
	{"a component for nobody", "useSession", `[]`, `{"before":null,"data":null,"status":"unauthenticated"}`, ""},
	{"an update of nobody", "useSession", `["Zoë"]`, `{"before":null,"data":null,"status":"unauthenticated"}`, ""},
	{"signing out again, with the window", "signOut", `[{"callbackUrl":"/bye"}]`, `null`, "SITE/bye"},
}

// honoRows are calls of @hono/auth-js/react, of a day like that. Of a failure it returns
// no code.
var honoRows = []browserRow{
	{"nobody is signed in", "getSession", `[]`, `null`, ""},
	{"a component for nobody", "useSession", `[]`, `{"before":null,"data":null,"status":"unauthenticated"}`, ""},
	{
		"a wrong password", "signIn", `["credentials",{"redirect":false,"username":"ada","password":"wrong"}]`,
		`{"error":"CredentialsSignin","status":200,"ok":true,"url":null}`, "",
	},
	{
		"a wrong password, with the window", "signIn", `["credentials",{"username":"ada","password":"wrong"}]`,
		`null`, "SITE/auth/signin?error=CredentialsSignin&code=credentials",
	},
	{
		"the right password", "signIn", `["credentials",{"redirect":false,"username":"ada","password":"lovelace","callbackUrl":"/inbox?a=b#c"}]`,
		`{"error":null,"status":200,"ok":true,"url":"SITE/inbox?a=b#c"}`, "",
	},
	{"ada is signed in", "getSession", `[]`, `{"user":{"name":"ada","email":"ada@example.com","image":null},"expires":"*"}`, ""},
	{"as somebody else, with the window", "signIn", `["credentials",{"username":"Žofia","password":"lovelace","callbackUrl":"SITE/inbox"}]`, `null`, "SITE/inbox"},
	{
		"an update", "useSession", `["Zoë"]`,
		`{"before":{"user":{"name":"Žofia","email":"žofia@example.com","image":null},"expires":"*"},
		  "data":{"user":{"name":"Zoë","email":"žofia@example.com","image":null},"expires":"*"},"status":"authenticated"}`, "",
	},
	{
		"a magic link", "signIn", `["email",{"redirect":false,"email":"ada@example.com"}]`,
		`{"error":null,"status":200,"ok":true,"url":"SITE/auth/verify-request?provider=email&type=email"}`, "",
	},
	{"an unknown provider", "signIn", `["unknown",{"callbackUrl":"/inbox"}]`, `null`, "SITE/auth/signin?callbackUrl=%2Finbox"},
	{"to another site after signing out", "signOut", `[{"redirect":false,"callbackUrl":"https://other.example/"}]`, `{"url":"SITE"}`, ""},
	{"nobody is left", "getSession", `[]`, `null`, ""},
	{"signing out again, with the window", "signOut", `[{"callbackUrl":"/bye"}]`, `null`, "SITE/bye"},
}

// TestBrowserClient runs the calls against us, and against Auth.js to prove
// that what is expected is right.
func TestBrowserClient(t *testing.T) { runBrowserClient(t, "next-auth/react", browserRows) }

// TestHonoClient is R-828: the React client of @hono/auth-js, as it is published, does at
// our server what it does at Auth.js.
func TestHonoClient(t *testing.T) { runBrowserClient(t, "@hono/auth-js/react", honoRows) }

func runBrowserClient(t *testing.T, module string, rows []browserRow) {
	t.Helper()
	for _, site := range []struct {
		name  string
		start func(t *testing.T) string
	}{
		{"Latchkey", func(t *testing.T) string { return serve(t, ourTwin(t, latchkey.Config{})) }},
		{"Auth.js", theirSite{Secrets: []string{newSecret}}.start},
	} {
		t.Run(site.name, func(t *testing.T) {
			origin := site.start(t)
			p := startPeer(t, "authjs", "browser.mjs", origin, module)
			for _, row := range rows {
				t.Run(row.name, func(t *testing.T) { row.run(t, p, origin) })
			}
		})
	}
}

func (row browserRow) run(t *testing.T, p *peer, origin string) {
	t.Helper()
	there := func(text string) string { return strings.ReplaceAll(text, "SITE", origin) }
	var got struct {
		Result   any
		Location string
	}
	p.ask(object{"call": row.call, "args": json.RawMessage(there(row.args))}, &got)
	var want any
	ok(t, json.Unmarshal([]byte(there(row.result)), &want))
	if !matches(got.Result, want) {
		t.Errorf("returned %s\nwant %s", asJSON(t, got.Result), asJSON(t, want))
	}
	if want := there(row.location); got.Location != want && (want != "" || got.Location != origin+"/here") {
		t.Errorf("the window is at %q, want %q", got.Location, want)
	}
}

// matches compares JSON values; "*" in want is any text but the empty one.
func matches(got, want any) bool {
	if want == "*" {
		text, is := got.(string)
		return is && text != ""
	}
	a, isA := got.(object)
	b, isB := want.(object)
	if !isA || !isB || len(a) != len(b) {
		return reflect.DeepEqual(got, want)
	}
	for name := range b {
		if value, has := a[name]; !has || !matches(value, b[name]) {
			return false
		}
	}
	return true
}
