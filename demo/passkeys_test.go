package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// TestPasskeys uses passkeys in the built-in pages and by the client, with an
// authenticator of software. Whatever the console says fails it.
func TestPasskeys(t *testing.T) {
	chromium := startChromium(t)
	for _, walk := range []struct {
		name string
		walk func(*keyholder)
	}{
		{"R-424 sign up, and in again by button", walkButton},
		{"R-424 sign in by autofill", walkAutofill},
		{"R-424 a browser without the JSON of passkeys", walkOldBrowser},
		{"R-424 a question that is cancelled says so", walkNobody},
		{"R-424 an e-mail address that is taken", walkTaken},
		{"R-424 a second passkey, and one less", walkAccountPasskeys},
		{"R-424 a form on a page of the site's own", walkOwnForm},
		{"R-421 passkeys by the client", walkPasskeyFunctions},
		{"R-421 a passkey without a question", walkUpgrade},
		{"R-525 a passkey of a neighbour is refused, and kept", walkForeign},
		{"R-525 a passkey that is gone is forgotten where it is used", walkGone},
		{"R-163 an answer counts once", walkReplay},
		{"R-172 a copy of a passkey is refused", walkClone},
	} {
		t.Run(walk.name, func(t *testing.T) {
			s := newClientTest(t)
			walk.walk(newKeyholder(openTab(t, chromium, serve(t, s))))
		})
	}
}

// keyholder is a tab whose browser has an authenticator.
type keyholder struct {
	*tab
	device webauthn.AuthenticatorID
}

// newKeyholder says yes to whatever the browser asks.
func newKeyholder(b *tab) *keyholder {
	b.t.Helper()
	b.do("start")
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	k := &keyholder{tab: b}
	k.newDevice()
	return k
}

// newDevice takes the place of the one before.
func (k *keyholder) newDevice() {
	k.t.Helper()
	if k.device != "" {
		if _, err := chromedp.Call(k.ctx, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: k.device}); err != nil {
			k.t.Fatal(err)
		}
	}
	a, err := chromedp.Call(k.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	if err != nil {
		k.t.Fatal(err)
	}
	k.device = a.AuthenticatorID
}

func (k *keyholder) passkeys() []*webauthn.Credential {
	k.t.Helper()
	held, err := chromedp.Call(k.ctx, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: k.device})
	if err != nil {
		k.t.Fatal(err)
	}
	return held.Credentials
}

// copied is what an authenticator takes of a passkey of another.
type copied struct {
	CredentialID         []byte  `json:"credentialId"`
	IsResidentCredential bool    `json:"isResidentCredential"`
	RPID                 string  `json:"rpId"`
	PrivateKey           []byte  `json:"privateKey"`
	UserHandle           []byte  `json:"userHandle"`
	SignCount            float64 `json:"signCount"`
}

type addition struct {
	AuthenticatorID webauthn.AuthenticatorID `json:"authenticatorId"`
	Credential      copied                   `json:"credential"`
}

// addCredential sends no member that this authenticator would refuse.
var addCredential = cdp.Command[addition, cdp.Empty]{Method: webauthn.CommandAddCredential}

func (k *keyholder) add(c *webauthn.Credential, signCount float64) {
	k.t.Helper()
	what := copied{c.CredentialID, true, c.RpID, c.PrivateKey, c.UserHandle, signCount}
	if _, err := chromedp.Call(k.ctx, addCredential, addition{k.device, what}); err != nil {
		k.t.Fatal(err)
	}
}

// before runs a script in each page before those of the page.
func (k *keyholder) before(script string) {
	k.t.Helper()
	if _, err := chromedp.Call(k.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		k.t.Fatal(err)
	}
}

// expect has the console complain about the status of a URL of the site.
func (k *keyholder) expect(path string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.opened[k.origin+path] = true
}

const (
	passkeyForm   = `form[data-latchkey-passkey="passkey"]`
	passkeyEmail  = passkeyForm + ` input[name="email"]`
	passkeyButton = passkeyForm + ` button:not([formaction])`
	passkeyError  = passkeyForm + ` [data-latchkey-passkey-error]`
	noAutofill    = `PublicKeyCredential.isConditionalMediationAvailable = async () => false`
	signedInEmail = "client.getSession().then(s => s?.user.email ?? null)"
)

// signUp makes a user with a passkey, on the sign-in page.
func (k *keyholder) signUp(email string) {
	k.t.Helper()
	k.open("/auth/signin?callbackUrl=/stable")
	k.write(passkeyEmail, email)
	k.click(passkeyButton)
	k.waitFor("/stable")
	k.becomes("window.stop !== undefined")
	k.gives(signedInEmail, `"`+email+`"`)
}

// leave signs out.
func (k *keyholder) leave() {
	k.t.Helper()
	k.gives("client.signOut({redirect: false}).then(client.getSession)", "null")
}

func walkButton(k *keyholder) {
	k.before(noAutofill)
	k.signUp("ada@example.com")
	k.leave()
	k.open("/auth/signin?callbackUrl=/stable")
	k.click(passkeyButton) // without saying who
	k.waitFor("/stable")
	k.gives(signedInEmail, `"ada@example.com"`)
	k.leave()
	k.open("/auth/signin?callbackUrl=/stable")
	k.write(passkeyEmail, "ADA@example.com")
	k.click(passkeyButton)
	k.waitFor("/stable")
	k.gives(signedInEmail, `"ada@example.com"`)
	if held := k.passkeys(); len(held) != 1 {
		k.t.Errorf("%d passkeys, want 1", len(held))
	}
}

func walkAutofill(k *keyholder) {
	k.signUp("ada@example.com")
	k.leave()
	k.open("/auth/signin?callbackUrl=/stable") // where the authenticator chooses at once
	k.waitFor("/stable")
	k.gives(signedInEmail, `"ada@example.com"`)
}

// heldOptions keeps the first options of autofill until release is closed, and counts
// those that are asked for meanwhile.
type heldOptions struct {
	http.Handler
	once           sync.Once
	asked, release chan struct{}
	meanwhile      atomic.Int64
}

func (h *heldOptions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/webauthn-options/") {
		if r.URL.Query().Get("mediation") == "conditional" {
			h.once.Do(func() { close(h.asked); <-h.release })
		}
		select {
		case <-h.release:
		default:
			h.meanwhile.Add(1)
		}
	}
	h.Handler.ServeHTTP(w, r)
}

// TestPasskeyOptionsInTurn is R-647: a click while options of autofill are under way.
// Each answer sets the cookie of the challenges, and the later one would lose the other's.
func TestPasskeyOptionsInTurn(t *testing.T) {
	held := &heldOptions{Handler: newClientTest(t), asked: make(chan struct{}), release: make(chan struct{})}
	k := newKeyholder(openTab(t, startChromium(t), serve(t, held)))
	release := sync.OnceFunc(func() { close(held.release) })
	defer release() // or the server would not stop
	k.open("/auth/signin?callbackUrl=/stable")
	<-held.asked
	k.write(passkeyEmail, "ada@example.com")
	k.click(passkeyButton)
	k.settles()
	if n := held.meanwhile.Load(); n != 0 {
		t.Errorf("%d more options are asked for before the first are answered", n)
	}
	release()
	k.waitFor("/stable")
	k.gives(signedInEmail, `"ada@example.com"`)
}

// walkOldBrowser is walkButton in a browser before Level 3.
func walkOldBrowser(k *keyholder) {
	k.before(`
delete PublicKeyCredential.parseCreationOptionsFromJSON
delete PublicKeyCredential.parseRequestOptionsFromJSON
delete PublicKeyCredential.prototype.toJSON`)
	walkButton(k)
}

func walkNobody(k *keyholder) {
	k.before(noAutofill)
	k.open("/auth/signin?callbackUrl=/stable")
	k.click(passkeyButton) // there are no passkeys
	k.becomes("document.querySelector('" + passkeyError + "').checkVisibility()")
	k.says("No passkey was used. You can try again.")
	k.write(passkeyEmail, "ada@example.com")
	k.click(passkeyButton)
	k.waitFor("/stable")
}

func walkTaken(k *keyholder) {
	k.before(noAutofill)
	k.signUp("ada@example.com")
	k.leave()
	path := "/auth/webauthn-options/passkey?email=ada%40example.com&action=register"
	k.expect(path)
	k.gives(`client.registerPasskey("passkey", {email: "ada@example.com", redirect: false})`, "Error: Invalid request")
	k.gives(`client.registerPasskey("passkey", {email: "ada@example.com", redirect: false}).catch(error => error.status)`, "400")
}

const addPasskey = `form[data-latchkey-passkey-add="passkey"]`

func walkAccountPasskeys(k *keyholder) {
	k.signUp("ada@example.com")
	k.newDevice()
	k.open("/auth/account")
	k.click(addPasskey + " button")
	k.becomes(rows(2))
	k.click(addPasskey + " button")
	k.becomes("document.querySelector('" + addPasskey + " [role=alert]').checkVisibility()")
	k.says("There is a passkey for this account on this device already.")
	held := k.passkeys()
	if len(held) != 1 {
		k.t.Fatalf("%d passkeys, want 1", len(held))
	}
	k.click(fmt.Sprintf(`form:has(input[name="passkey"][value="%s"]) button`, base64.RawURLEncoding.EncodeToString(held[0].CredentialID)) + `[aria-label^="Remove"]`)
	k.becomes(rows(1))
	k.forgets()
	k.says("Your only way in")
}

// rows: the account page has so many passkeys.
func rows(n int) string {
	return fmt.Sprintf("location.pathname === '/auth/account' && document.querySelectorAll('[aria-label^=\"Rename\"]').length === %d", n)
}

func walkOwnForm(k *keyholder) {
	k.open("/form")
	k.write(passkeyEmail, "ada@example.com")
	k.click("#new")
	k.waitFor("/stable")
	k.becomes("window.stop !== undefined")
	k.gives(signedInEmail, `"ada@example.com"`)
	k.leave()
	k.open("/form")
	k.write(passkeyEmail, "ada@example.com")
	k.expect("/auth/webauthn-options/passkey?email=ada%40example.com&action=register")
	k.click("#new")
	k.becomes("document.body.innerText.includes('Taken.')")
	k.click(passkeyForm + " button:not([value])")
	k.waitFor("/stable")
	k.gives(signedInEmail, `"ada@example.com"`)
}

func walkPasskeyFunctions(k *keyholder) {
	k.use("/stable")
	k.gives(`client.signIn("passkey", {email: "ada@example.com", redirect: false})`, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	k.gives(signedInEmail, `"ada@example.com"`)
	k.newDevice()
	k.gives(`client.registerPasskey("passkey", {redirect: false})`, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	k.gives(`client.registerPasskey("passkey", {redirect: false}).catch(error => error.name)`, `"InvalidStateError"`) // there is one already
	k.leave()
	k.gives(`client.autofillPasskey("passkey", {redirect: false})`, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	k.gives(signedInEmail, `"ada@example.com"`)
	k.leave()
	k.gives(`client.askPasskey("passkey", {action: "authenticate"}).then(({action, data}) => [action, JSON.parse(data).type])`, `["authenticate","public-key"]`)
	k.gives(`client.signalPasskeys({rpId: "localhost", credentialId: "AAAA"})`, "undefined")
	if len(k.passkeys()) != 1 {
		k.t.Error("another passkey was forgotten")
	}
	k.touches(false)
	k.gives(waits, "undefined")
	k.expect("/auth/webauthn-options/passkey?action=nonsense")
	k.gives(`client.askPasskey("passkey", {action: "nonsense"})`, "Error: Invalid action") // ends it
	k.gives("chosen", "undefined")
}

// waits has the browser offer passkeys, and is done when it does.
const waits = `new Promise((offered) => {
  const get = navigator.credentials.get
  navigator.credentials.get = (options) => {
    offered()
    return get.call(navigator.credentials, options)
  }
  window.chosen = client.autofillPasskey()
})`

// touches says whether the authenticator is touched without a prompt.
func (k *keyholder) touches(is bool) {
	k.t.Helper()
	if _, err := chromedp.Call(k.ctx, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: k.device, Enabled: is}); err != nil {
		k.t.Fatal(err)
	}
}

func walkUpgrade(k *keyholder) {
	k.use("/stable")
	k.gives(`client.signIn("passkey", {email: "ada@example.com", redirect: false})`, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	k.newDevice()
	k.gives("("+manager+")()", "undefined")
	k.gives("client.upgradeToPasskey()", "true")
	k.gives("client.upgradeToPasskey()", "false") // there is one
	k.gives("window.mediations", `["conditional","conditional"]`)
	if held := k.passkeys(); len(held) != 1 {
		k.t.Errorf("%d passkeys, want 1", len(held))
	}
	k.leave()
	k.expect("/auth/webauthn-options/passkey?action=register&mediation=conditional")
	k.gives("client.upgradeToPasskey()", "false") // for nobody
	k.gives("(delete PublicKeyCredential.getClientCapabilities, client.upgradeToPasskey())", "false")
}

// manager stands for a password manager that has just filled in a password: this
// browser has none, and makes no passkey without a question.
const manager = `() => {
  const create = navigator.credentials.create.bind(navigator.credentials)
  window.mediations = []
  navigator.credentials.create = ({ mediation, ...options }) => {
    mediations.push(mediation)
    return create(options)
  }
}`

func walkForeign(k *keyholder) {
	k.before(noAutofill)
	elsewhere := newKeyholder(openTab(k.t, k.ctx, serve(k.t, newClientTest(k.t))))
	elsewhere.signUp("ada@example.com")
	foreign := elsewhere.passkeys()[0]
	k.add(foreign, 7)
	k.before(recordSignals)
	k.open("/auth/signin?callbackUrl=/stable")
	k.click(passkeyButton)
	k.waitFor("/auth/signin?error=WebAuthnVerificationError")
	k.says("This site does not know that passkey.")
	k.becomes(asked("signals"))
	k.settles()
	k.use("/stable")
	k.gives(`client.signIn("passkey", {redirect: false}).then(r => r.code)`, `"unknown_credential"`)
	k.gives(signalled, "[]")
	if held := k.passkeys(); len(held) != 1 {
		k.t.Error("R-525 the neighbour's passkey is lost")
	}
}

// recordSignals keeps what password managers are told, until the tab is closed.
const recordSignals = `
for (const name of ["signalUnknownCredential", "signalAllAcceptedCredentials", "signalCurrentUserDetails"]) {
  const signal = PublicKeyCredential[name]?.bind(PublicKeyCredential)
  PublicKeyCredential[name] = (told) => {
    sessionStorage.setItem("told", JSON.stringify([...JSON.parse(sessionStorage.getItem("told") ?? "[]"), {name, ...told}]))
    return signal?.(told)
  }
}`

const signalled = `Promise.resolve(JSON.parse(sessionStorage.getItem("told") ?? "[]"))`

// asked reports whether the page has asked for passkeys in this way.
func asked(action string) string {
	return fmt.Sprintf(`performance.getEntriesByType("resource").some((e) => e.name.includes("action=%s") && e.responseEnd)`, action)
}

// settles lets the page work on what it has fetched.
func (k *keyholder) settles() {
	k.t.Helper()
	k.gives(`(async () => { for (let i = 0; i < 10; i++) await (await fetch("/auth/session")).text(); return "done" })()`, `"done"`)
}

func walkGone(k *keyholder) {
	k.before(noAutofill)
	k.signUp("ada@example.com")
	first := k.passkeys()[0]
	k.newDevice()
	k.open("/auth/account")
	k.click(addPasskey + " button")
	k.becomes(rows(2))
	k.click(fmt.Sprintf(`form:has(input[name="passkey"][value="%s"]) button`, base64.RawURLEncoding.EncodeToString(first.CredentialID)) + `[aria-label^="Remove"]`)
	k.becomes(rows(1))
	k.use("/stable")
	k.leave()
	k.newDevice()
	k.add(first, 9)
	k.open("/auth/signin?callbackUrl=/stable")
	k.click(passkeyButton)
	k.waitFor("/auth/signin?error=WebAuthnVerificationError")
	k.says("This site does not know that passkey.")
	k.forgets()
	k.add(first, 10)
	k.use("/stable")
	k.gives(`client.signIn("passkey", {redirect: false}).then(r => r.code)`, `"unknown_credential"`)
	k.forgets()
}

// forgets waits until the authenticator has no passkeys.
func (k *keyholder) forgets() {
	k.t.Helper()
	for deadline := time.Now().Add(patience); len(k.passkeys()) > 0; {
		if time.Now().After(deadline) {
			k.t.Fatal("the passkey is still there")
		}
	}
}

// replays posts what a passkey answers twice.
const replays = `(async () => {
  const answer = await client.askPasskey("passkey", {action: "authenticate"})
  const post = async ({action, data}) => {
    const response = await fetch("/auth/callback/passkey", {method: "POST", headers: {"X-Auth-Return-Redirect": "1"}, body: new URLSearchParams({action, data})})
    return new URL((await response.json()).url).searchParams.get("error")
  }
  const first = await post(answer)
  await client.askPasskey("passkey", {action: "authenticate"}) // this browser is asked for another
  return [first, await post(answer)]
})()`

func walkReplay(k *keyholder) {
	k.signUp("ada@example.com")
	k.leave()
	k.gives(replays, `[null,"WebAuthnVerificationError"]`)
}

func walkClone(k *keyholder) {
	k.before(noAutofill)
	k.signUp("ada@example.com")
	clone := k.passkeys()[0]
	k.leave()
	for range 2 {
		k.gives(`client.signIn("passkey", {redirect: false}).then(r => r.ok)`, "true")
		k.leave()
	}
	k.newDevice()
	k.add(clone, 0)
	k.open("/auth/signin?callbackUrl=/stable")
	k.click(passkeyButton)
	k.waitFor("/auth/signin?error=WebAuthnVerificationError")
	k.says("That passkey did not work.")
	k.use("/stable")
	k.gives(signedInEmail, "null")
}
