package password_test

import (
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/password"
)

// the length that pages show is the length that is checked.
func TestProviderHasOneMinLength(t *testing.T) {
	for name, c := range map[string]struct {
		shown, checked, want int
		wrong                string
	}{
		"neither is set":        {0, 0, 8, ""},
		"only the provider's":   {15, 0, 15, ""},
		"only the hasher's":     {0, 15, 15, ""},
		"both are the same":     {15, 15, 15, ""},
		"they differ":           {15, 12, 0, "Password.MinLength is 15 and Options.MinLength 12"},
		"less than is accepted": {6, 0, 0, "MinLength is 6"},
	} {
		p := password.Provider(latchkey.Password{MinLength: c.shown}, password.Options{MinLength: c.checked})
		err := p.Derive(p)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("R-690 %s: error %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		short, errShort := p.Weakness(t.Context(), strings.Repeat("ä", c.want-1), nil)
		long, errLong := p.Weakness(t.Context(), "tyvqomzekrhwalnb"[:c.want], nil)
		if p.MinLength != c.want || short != password.Short || long != "" || errShort != nil || errLong != nil {
			t.Errorf("R-690 %s: MinLength %d, one character less %q, enough %q", name, p.MinLength, short, long)
		}
	}
}
