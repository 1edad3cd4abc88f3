package directory

import (
	"fmt"
	"testing"
	"time"
)

// the names of a session, as accounts are linked to it. One that is linked again, by a
// newer ID token, takes the place of no other.
func TestNamesBesideEachOther(t *testing.T) {
	at := func(sid string, second int64) ProviderNames {
		return ProviderNames{SID: sid, Sub: "of " + sid, Issued: time.Unix(second, 0)}
	}
	for what, c := range map[string]struct {
		links []ProviderNames
		want  string
	}{
		"two providers":                      {[]ProviderNames{at("a", 1), at("b", 2)}, "a 1, b 2"},
		"one provider again and again":       {[]ProviderNames{at("a", 1), at("a", 2), at("a", 3), at("a", 4), at("b", 5), at("c", 6)}, "a 1, b 5, c 6"},
		"the first stays, and the latest is": {[]ProviderNames{at("a", 1), at("b", 2), at("c", 3), at("d", 4), at("e", 5)}, "a 1, b 2, c 3, e 5"},
		"one without names":                  {[]ProviderNames{at("a", 1), {}, at("b", 3)}, "a 1, b 3"},
	} {
		var session *AtProvider
		for _, linked := range c.links {
			former := session.All()
			session = (&AtProvider{ProviderNames: linked}).Beside(former)
		}
		got := ""
		for i, n := range session.All() {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprint(n.SID, " ", n.Issued.Unix())
		}
		if got != c.want {
			t.Errorf("R-700 %s: %s, want %s", what, got, c.want)
		}
	}
}
