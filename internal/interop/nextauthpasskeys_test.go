package interop

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// nextAuthPasskeyRows are calls of next-auth/webauthn, in the order of one browser's day.
var nextAuthPasskeyRows = []struct{ name, call, result, who string }{
	{
		"a new user registers a passkey", `signIn("passkey", {action: "register", email: "ada@example.com", redirect: false, redirectTo: "SITE/inbox"})`,
		`{"error":null,"code":null,"status":200,"ok":true,"url":"SITE/inbox"}`, "ada@example.com",
	},
	{"signing out", `signOut({redirect: false, redirectTo: "SITE/bye"})`, `{"url":"SITE/bye"}`, ""},
	{
		"the passkey signs in", `signIn("passkey", {redirect: false, redirectTo: "SITE/inbox"})`,
		`{"error":null,"code":null,"status":200,"ok":true,"url":"SITE/inbox"}`, "ada@example.com",
	},
	{"signing out again", `signOut({redirect: false, redirectTo: "SITE/bye"})`, `{"url":"SITE/bye"}`, ""},
	{"the address of a user", `signIn("passkey", {action: "register", email: "ada@example.com", redirect: false}).then(r => r ?? null)`, `null`, ""},
	{"a provider of another type", `signIn("credentials").catch(e => e.name)`, `"TypeError"`, ""},
}

// TestNextAuthPasskeys is R-733: next-auth/webauthn, as it is published, registers a passkey
// and signs in with it in Chromium, at our server and at Auth.js, on one database.
func TestNextAuthPasskeys(t *testing.T) {
	installed(t, "authjs")
	chromium := startChromium(t)
	server := realservers.Postgres(t, false)
	sites := map[string]func(t *testing.T, pool *pgxpool.Pool, database string) string{
		"Latchkey": func(t *testing.T, pool *pgxpool.Pool, _ string) string { return passkeySite(t, pool) },
		"Auth.js": func(t *testing.T, _ *pgxpool.Pool, database string) string {
			return startPeer(t, "authjs", "passkeys.mjs", string(asJSON(t, map[string]string{"secret": newSecret, "host": server.Dir, "database": database}))).url()
		},
	}
	for name, start := range sites {
		t.Run("R-733 "+name, func(t *testing.T) {
			database := strings.ToLower(name[:4])
			auth := reverseProxy(t, start(t, newDatabase(t, server, database), database))
			// An address of numbers has no passkeys.
			w := openWindow(t, chromium, strings.Replace(serve(t, nextAuthSite(auth)), "127.0.0.1", "localhost", 1))
			addAuthenticator(w)
			for _, row := range nextAuthPasskeyRows {
				t.Run(row.name, func(t *testing.T) {
					w.t = t
					w.open("/here")
					there := strings.NewReplacer("SITE", w.url)
					w.stay(there.Replace(row.call), there.Replace(row.result))
					w.stay("getSession().then(s => s?.user.email ?? '')", string(asJSON(t, row.who)))
				})
			}
		})
	}
}

// addAuthenticator gives a window an authenticator that says yes.
func addAuthenticator(w *window) {
	w.t.Helper()
	w.open("/here")
	_, err := chromedp.Call(w.ctx, webauthn.Enable, webauthn.EnableParams{})
	ok(w.t, err)
	_, err = chromedp.Call(w.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	ok(w.t, err)
}

// nextAuthSite is a site whose pages have next-auth/webauthn and next-auth/react as
// window.client. They are as published; no component is used, so React is not there.
func nextAuthSite(auth http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/modules/", http.StripPrefix("/modules/", http.FileServer(http.Dir(filepath.Join("authjs", "node_modules")))))
	mux.HandleFunc("/react.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, "export const jsx = undefined\n")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">{"imports":{"react": "/react.js", "react/jsx-runtime": "/react.js",
"@auth/core/errors": "/modules/@auth/core/errors.js",
"@simplewebauthn/browser": "/modules/@simplewebauthn/browser/dist/bundle/index.js"}}</script>
<script type="module">
window.process = { env: { NEXTAUTH_URL: location.origin + "/auth" } }
const { getSession, signOut } = await import("/modules/next-auth/react.js")
const { signIn } = await import("/modules/next-auth/webauthn.js")
window.client = { getSession, signOut, signIn }
</script>`)
	})
	return mux
}
