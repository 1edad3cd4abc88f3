package crash

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// origin is where every site believes to be. Nobody listens there: requests are
// handed over in this process.
const origin = "http://localhost:3000"

// mostPeople is how many have an account at the provider.
const mostPeople = 20_000

// patience is how long anything may take on a busy machine.
var patience = race.Patience(2 * time.Minute)

// newIssuer is a provider of everybody from person-0 on. Each change is applied to its
// settings first.
func newIssuer(t testing.TB, changes ...func(*latchkeytest.IssuerConfig)) *latchkeytest.Issuer {
	t.Helper()
	return latchkeytest.NewIssuer(t, append(changes, func(c *latchkeytest.IssuerConfig) {
		c.Algorithm = "ES256" // cheap to sign
		c.People = make([]latchkeytest.Person, mostPeople)
		for i := range c.People {
			c.People[i] = latchkeytest.Person{Subject: fmt.Sprintf("person-%d", i), Email: emailOf(i), EmailVerified: true}
		}
	})...)
}

// emailOf is the e-mail address of somebody with an account at the provider.
func emailOf(person int) string { return fmt.Sprintf("person-%d@example.com", person) }

// sender delivers a link.
type sender func(context.Context, latchkey.Message) error

// settings are those of every instance of the site: the provider, the same one
// under another name for a second account, and magic links.
func settings(a storage.Adapter, p *latchkey.OAuth, send sender, log *diary) latchkey.Config {
	p.IDTokenAlgs = []string{"ES256"}
	second := *p
	second.ID = "second"
	return latchkey.Config{
		Providers: []latchkey.Provider{p, &second, &latchkey.Email{From: "site@example.com", Send: send}},
		Adapter:   a,
		Secrets:   []string{"one secret for all instances of the site"},
		Site:      latchkey.Site{URL: origin},
		// All requests come from one IP address here, and a busy machine may take its time.
		Limits:  latchkey.Limits{Disabled: true, ProviderCallTimeout: patience, ProviderTimeout: patience, StoreTimeout: patience, CallbackTimeout: patience, MailTimeout: patience},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(log, nil))},
	}
}

// audited has a site keep its audit log in the store.
func audited(c *latchkey.Config) { c.Operations.Audit.Store = true }

// newSite is one instance. Each change is applied to its settings first.
func newSite(t testing.TB, a storage.Adapter, iss *latchkeytest.Issuer, changes ...func(*latchkey.Config)) *latchkey.Auth {
	t.Helper()
	return newMailingSite(t, a, iss, func(context.Context, latchkey.Message) error { return nil }, changes...)
}

func newMailingSite(t testing.TB, a storage.Adapter, iss *latchkeytest.Issuer, send sender, changes ...func(*latchkey.Config)) *latchkey.Auth {
	t.Helper()
	log := &diary{}
	c := settings(a, iss.Provider(), send, log)
	for _, change := range changes {
		change(&c)
	}
	auth, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.check(t) })
	return auth
}

// diary keeps the log of a site.
type diary struct {
	lock sync.Mutex
	said bytes.Buffer
}

// Write implements io.Writer.
func (d *diary) Write(b []byte) (int, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.said.Write(b)
}

// check fails for a panic, which a site survives but never has a reason for.
// After a failure it shows what the site has to say.
func (d *diary) check(t testing.TB) {
	d.lock.Lock()
	defer d.lock.Unlock()
	text := d.said.String()
	if strings.Contains(text, "stack=") {
		t.Errorf("a panic:\n%s", text)
	} else if t.Failed() {
		t.Logf("the end of the site's log:\n%s", text[max(0, len(text)-3000):])
	}
}
