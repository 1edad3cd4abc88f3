package sitetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// TestHardenedRules: each rule goes by Hardened where it is nil, and by itself
// where it is set.
func TestHardenedRules(t *testing.T) {
	rules := map[string]struct {
		set     func(c *latchkey.Config, rule *bool)
		applies func(t *testing.T, change func(*latchkey.Config)) bool
	}{
		"HostPrefix": {
			func(c *latchkey.Config, rule *bool) { c.Cookies.HostPrefix = rule },
			func(t *testing.T, change func(*latchkey.Config)) bool {
				name := newSite(t, change).newBrowser().signIn().cookie("session-token").Name
				return strings.HasPrefix(name, "__Host-")
			},
		},
		"RefuseSameSite": {
			func(c *latchkey.Config, rule *bool) { c.Security.RefuseSameSite = rule },
			func(t *testing.T, change func(*latchkey.Config)) bool {
				b := newSite(t, change).newBrowser()
				b.header.Set("Sec-Fetch-Site", "same-site")
				return b.post("/auth/signout").Code == http.StatusForbidden
			},
		},
		"StrictSignOut": {
			func(c *latchkey.Config, rule *bool) { c.Security.StrictSignOut = rule },
			func(t *testing.T, change func(*latchkey.Config)) bool {
				store := newFaultyStore()
				_, b := newSignedInOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter = store }, change)
				store.fail("DeleteSession", faultBefore)
				return b.post("/auth/signout").Code == http.StatusInternalServerError
			},
		},
		"ConfirmLink": {
			func(c *latchkey.Config, rule *bool) {
				withEmailProvider(func(p *latchkey.Email) { p.ConfirmLink = rule })(c)
			},
			func(t *testing.T, change func(*latchkey.Config)) bool {
				b := newSite(t, stored, change).newBrowser()
				return !b.get(b.askForLink(adaEmail)).signsIn()
			},
		},
	}
	for name, rule := range rules {
		for _, row := range []struct {
			says     string
			hardened bool
			own      *bool
			want     bool
		}{
			{"is off by default", false, nil, false},
			{"is on when hardened", true, nil, true},
			{"is available alone", false, new(true), true},
			{"can be refused when hardened", true, new(false), false},
		} {
			t.Run(name+" "+row.says, func(t *testing.T) {
				applied := rule.applies(t, func(c *latchkey.Config) {
					c.Hardened = row.hardened
					rule.set(c, row.own)
				})
				if applied != row.want {
					t.Errorf("the rule applies: %t, want %t", applied, row.want)
				}
			})
		}
	}
}
