package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// checkProviders checks every provider that the environment has variables of, and reports
// a failure for each id in wanted that has none. A URL in wanted is an issuer to ask.
func (d *doctor) checkProviders(ctx context.Context, wanted []string) {
	stems := map[string]bool{} // of variables: the ids in upper case, - as _
	for _, name := range d.env.names() {
		if stem := providerStem(name); stem != "" && !strings.HasSuffix(stem, "_CLIENT") { // checkNames has spoken of those
			stems[stem] = true
		}
	}
	var issuers []issuer
	for _, w := range wanted {
		if strings.Contains(w, "://") {
			issuers = append(issuers, issuer{printable(w), w})
			continue
		}
		stem := strings.ToUpper(strings.ReplaceAll(w, "-", "_"))
		if known, ok := catalogued(stem); ok && known.hasClientID() && !stems[stem] {
			d.fail(known.variable("SECRET"), "is not set. Set it to the key that the provider gave this site")
		} else if !stems[stem] {
			d.fail("AUTH_"+stem+"_ID", "is not set. Set it and AUTH_%s_SECRET to what the provider gave this site", stem)
		}
	}
	for _, stem := range slices.Sorted(maps.Keys(stems)) {
		d.checkClient(stem)
		known, ok := catalogued(stem)
		switch variable := "AUTH_" + stem + "_ISSUER"; {
		case d.env.get(variable) == "":
		case ok && !known.OIDC:
			known.checkIssuer(d.report, issuer{variable, d.env.get(variable)})
		default:
			issuers = append(issuers, issuer{variable, d.env.get(variable)})
		}
	}
	if len(stems) == 0 && len(wanted) == 0 {
		d.ok("providers", "none in the environment (AUTH_<ID>_ID, AUTH_<ID>_SECRET)")
	}
	d.checkIssuers(ctx, issuers)
}

// providerStem returns the part of AUTH_<ID>_ID, AUTH_<ID>_SECRET or AUTH_<ID>_ISSUER
// that names the provider, or "" for any other variable.
func providerStem(variable string) string {
	rest, ok := strings.CutPrefix(variable, "AUTH_")
	if !ok {
		return ""
	}
	for _, what := range []string{"_ID", "_SECRET", "_ISSUER"} {
		if stem, ok := strings.CutSuffix(rest, what); ok {
			return stem
		}
	}
	return ""
}

// catalogued returns the provider of the catalogue whose variables have the stem. It
// returns false for a provider whose id the site has chosen.
func catalogued(stem string) (ready, bool) {
	for _, e := range catalogue.Providers() {
		known := ready{e, e.New(latchkey.OAuth{})}
		if known.variable("ID") == "AUTH_"+stem+"_ID" {
			return known, true
		}
	}
	return ready{}, false
}

// checkIssuer checks the URL of the issuer of a provider that has no discovery document.
// It sends no request.
func (r ready) checkIssuer(to *report, iss issuer) {
	own := *r.OAuth
	own.Issuer = iss.url
	if own.Derive != nil {
		own.UserInfo.URL = cmp.Or(own.UserInfo.URL, "https://userinfo.example") // the program may have set it
		if err := own.Derive(&own); err != nil {
			to.fail(iss.name, "%s", strings.TrimPrefix(err.Error(), "providers: "))
			return
		}
	}
	if _, err := oauth.New(oauth.Config{OIDC: true, Issuer: iss.url, ClientID: "doctor", ClientAuth: oauth.NoClientAuth}); err != nil {
		to.fail(iss.name, "is no URL of a provider. It is %s", cmp.Or(r.Entry.Issuer, "like "+r.OAuth.Issuer))
		return
	}
	to.ok(iss.name, "is set; this provider has no document to ask for")
}

// checkClient reports whether the variables of a provider have the client id and the
// secret that it needs. stem is the part of their names that providerStem returns.
func (d *doctor) checkClient(stem string) {
	id, secret := "AUTH_"+stem+"_ID", "AUTH_"+stem+"_SECRET"
	hasID, hasSecret := d.env.get(id) != "", d.env.get(secret) != ""
	register := ""
	if prefix := d.env.callbackPrefix(); prefix != "" {
		register = "; the callback URL to register is " + prefix + strings.ToLower(strings.ReplaceAll(stem, "_", "-"))
	}
	known, _ := catalogued(stem)
	switch {
	case known.OAuth != nil && known.hasClientID() && hasSecret:
		d.ok(secret, "is set; there is no client id, and nothing to register")
	case hasID && known.OAuth != nil && known.ClientAuth == latchkey.ClientAuthNone:
		d.ok(id, "is set; there is no secret%s", register)
	case hasID && hasSecret:
		d.ok(id, "is set, with its secret, which only a sign-in tries%s", register)
	case hasID:
		d.fail(secret, "is not set, but %s is. Copy the client secret from the provider; where there is none (a public client, a secret the program makes), use --accept %s", id, secret)
	case hasSecret:
		d.fail(id, "is not set, but %s is. Copy the client id from the provider, or use --accept %s if the program has it", secret, id)
	default:
		d.fail(id, "is not set, but AUTH_%s_ISSUER is. Copy the client id from the provider, or use --accept %s if the program has it", stem, id)
	}
}

// issuer is an OpenID Provider to ask. name is the variable or the flag's URL that named
// it, for the report.
type issuer struct{ name, url string }

// checkIssuers asks all issuers at once, and reports what they answered in the order of
// the list.
func (d *doctor) checkIssuers(ctx context.Context, issuers []issuer) {
	answers := make([]discovery, len(issuers))
	var all sync.WaitGroup
	for i, iss := range issuers {
		all.Go(func() { answers[i] = d.discover(ctx, iss.url) })
	}
	all.Wait()
	for i, iss := range issuers {
		answers[i].report(d.report, iss)
	}
}

// discovery is what came of asking an issuer about itself.
type discovery struct {
	stated string // the issuer that its document names
	pkce   bool   // it says that it knows PKCE
	wants  error  // what it demands that no sign-in can do; nil: nothing
	err    error
}

// discover asks an issuer for its document. The result has an err if the document is missing
// or refused. If only the issuer that it names is another one, that is in stated, too. The
// document of a shared issuer of Microsoft, such as common, names a template and is accepted.
func (d *doctor) discover(ctx context.Context, url string) discovery {
	entra := providers.MicrosoftEntraID(latchkey.OAuth{Issuer: url})
	if err := entra.Derive(entra); err != nil {
		return discovery{err: err}
	}
	m, err := d.metadata(ctx, url, entra.MatchIssuer)
	if err != nil {
		// Again, with any issuer being right: was it only the name?
		anyIssuer := func(string, latchkey.Claims) bool { return true }
		if m, again := d.metadata(ctx, url, anyIssuer); again == nil {
			return discovery{stated: m.Issuer, err: err}
		}
		return discovery{err: err}
	}
	return discovery{m.Issuer, slices.Contains(m.CodeChallengeMethods, "S256"), m.Unsupported, nil}
}

// metadata returns the discovery document of the issuer at url. The document has to name
// url itself, or an issuer that match accepts; a nil match accepts none. It returns
// errNoIssuer if url cannot be an issuer, and otherwise the error of the request.
func (d *doctor) metadata(ctx context.Context, url string, match func(string, latchkey.Claims) bool) (*oauth.Metadata, error) {
	c := oauth.Config{OIDC: true, Issuer: url, ClientID: "doctor", ClientAuth: oauth.NoClientAuth, HTTP: d.program.http, Time: d.program.now}
	if match != nil {
		c.MatchIssuer = func(issuer string, claims map[string]any) bool { return match(issuer, claims) }
	}
	client, err := oauth.New(c)
	if err != nil {
		return nil, errNoIssuer
	}
	return client.Discover(ctx)
}

var errNoIssuer = errors.New("no issuer")

// report adds to r what an issuer has answered, with the cure if something is wrong.
func (d discovery) report(r *report, iss issuer) {
	step, answered := errors.AsType[*oauth.StepError](d.err)
	rawURL := strings.TrimRight(printable(iss.url), "/") + "/.well-known/openid-configuration"
	switch {
	case d.err == nil && d.wants != nil:
		r.fail(iss.name, "%v", d.wants)
	case d.err == nil && d.pkce:
		r.ok(iss.name, "answers and names itself so; it knows PKCE")
	case d.err == nil:
		r.ok(iss.name, "answers and names itself so; it does not say that it knows PKCE, so state and nonce are used too")
	case errors.Is(d.err, errNoIssuer):
		r.fail(iss.name, "is no issuer. Use an https URL without query, user and password, such as https://id.example")
	case d.stated != "":
		r.fail(iss.name, "its document says that it is %q. Set it to exactly that", d.stated)
	case answered && step.Status == 404:
		r.fail(iss.name, "has no document at %s. Check the path, such as the tenant or realm; for a provider without discovery use --accept %s", rawURL, iss.name)
	case answered && step.Status != 0:
		r.fail(iss.name, "answers %s with status %d: %v. Ask the provider", rawURL, step.Status, step.Err)
	case answered:
		r.fail(iss.name, "%s: %v. Check the host name, and that this machine may reach it", rawURL, step.Err)
	default:
		r.fail(iss.name, "cannot be asked at %s. Check the URL", rawURL)
	}
}
