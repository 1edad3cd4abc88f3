package keys_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/race"
)

// named is everything that one key names.
type named struct {
	secret, tenant, site string
	kind                 keys.Kind
	parts                []string
}

func (n named) key() string {
	return keys.New([]string{n.secret}, n.tenant, n.site).Of(n.kind, n.parts...)
}

// differ returns copies of n that differ from it in exactly one component, or in
// where one component ends and the next begins.
func (n named) differ(text func() string) map[string]named {
	other := func(change func(*named)) named {
		c := n
		c.parts = slices.Clone(n.parts)
		change(&c)
		return c
	}
	list := map[string]named{
		"secret":         other(func(c *named) { c.secret += text() }),
		"tenant":         other(func(c *named) { c.tenant += text() }),
		"site":           other(func(c *named) { c.site += text() }),
		"kind":           other(func(c *named) { c.kind += "s" }),
		"part":           other(func(c *named) { c.parts[0] += text() }),
		"one part more":  other(func(c *named) { c.parts = append(c.parts, "") }),
		"tenant as site": other(func(c *named) { c.tenant, c.site = "", c.tenant+c.site }),
		"parts joined":   other(func(c *named) { c.parts = []string{c.parts[0] + c.parts[1]} }),
		"part moved":     other(func(c *named) { c.parts[0], c.parts[1] = c.parts[0]+c.parts[1], "" }),
		"separator":      other(func(c *named) { c.parts = []string{c.parts[0] + "\x00" + c.parts[1]} }),
	}
	if n.tenant == "" {
		delete(list, "tenant as site")
	}
	if n.parts[1] == "" {
		delete(list, "part moved")
	}
	return list
}

// what differs in one component has no key in common. Keys that were texts
// with a separator between their parts failed this: a tenant "a" and the value
// "b\x00c" had the key of a tenant "a\x00b" and the value "c".
func TestKeysAreInjective(t *testing.T) {
	random, steps := seeded(t)
	text := func() string {
		const letters = "ab\x00:/"
		s := make([]byte, 1+random.IntN(3))
		for i := range s {
			s[i] = letters[random.IntN(len(letters))]
		}
		return string(s)
	}
	maybe := func() string {
		if random.IntN(3) == 0 {
			return ""
		}
		return text()
	}
	for range 5 * steps {
		n := named{text(), maybe(), maybe(), keys.TriesOfAccount, []string{text(), maybe()}}
		for component, other := range n.differ(text) {
			if n.key() == other.key() {
				t.Fatalf("%s: %+v and %+v have one key", component, n, other)
			}
		}
		if first, again := n.key(), n.key(); first != again || len(first) != 64 {
			t.Fatalf("%+v: %q and %q", n, first, again)
		}
	}
}

func TestKeysWhileSecretsRotate(t *testing.T) {
	of := func(secrets ...string) []string {
		return keys.New(secrets, "t", "s").All(keys.RevokedSignIn, "1")
	}
	meet := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(key string) bool { return slices.Contains(b, key) })
	}
	t.Run("R-509 instances with one secret in common find what each other wrote", func(t *testing.T) {
		if !meet(of("old"), of("new", "old")) || !meet(of("new", "old"), of("new")) {
			t.Error("no key in common")
		}
		if meet(of("old"), of("new")) {
			t.Error("two secrets have a key in common")
		}
	})
	t.Run("R-509 the secret in use counts", func(t *testing.T) {
		if k := keys.New([]string{"new", "old"}, "t", "s"); k.Of(keys.RevokedSignIn, "1") != of("new")[0] {
			t.Error("not under the first secret")
		}
	})
	t.Run("R-509 a configuration keeps its secrets", func(t *testing.T) {
		secrets := []string{"new", "old"}
		k := keys.New(secrets, "t", "s")
		before := k.Of(keys.UsedValue, "1")
		if secrets[0] = "changed"; k.Of(keys.UsedValue, "1") != before {
			t.Error("a change of the caller's list changes keys")
		}
	})
}

// seeded returns the random numbers of a property test, and how many steps it has.
func seeded(t *testing.T) (*rand.Rand, int) {
	t.Helper()
	seed, steps := race.Steps(t, 200)
	return rand.New(rand.NewPCG(seed, 0)), steps
}
