package passkeys

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// only the site that made a handle takes it for its own, under any of its
// secrets.
func TestHandles(t *testing.T) {
	h := NewHandle("new", "shop")
	damaged := slices.Clone(h)
	damaged[0] ^= 1
	for _, c := range []struct {
		name   string
		handle []byte
		keys   []string
		scope  string
		want   bool
	}{
		{"its own", h, []string{"new"}, "shop", true},
		{"after a rotation of secrets", h, []string{"newer", "new"}, "shop", true},
		{"another site", h, []string{"new"}, "shop2", false},
		{"another secret", h, []string{"old"}, "shop", false},
		{"another handle", damaged, []string{"new"}, "shop", false},
		{"a short one", h[:31], []string{"new"}, "shop", false},
		{"none", nil, []string{"new"}, "shop", false},
		{"no secrets", h, nil, "shop", false},
	} {
		if got := IsHandle(c.handle, c.keys, c.scope); got != c.want {
			t.Errorf("R-525 %s: %t, want %t", c.name, got, c.want)
		}
	}
	if len(h) != 32 || bytes.Equal(h, NewHandle("new", "shop")) {
		t.Errorf("the handle %x is not new", h)
	}
}

// lists of names with and without passkeys have the same numbers of ids, of
// the same lengths, and a second look shows the same list.
func TestBlend(t *testing.T) {
	seed := rand.New(rand.NewPCG(1, 2))
	known, unknown := map[string]int{}, map[string]int{}
	for i := range 1500 {
		name := fmt.Sprint(i, "@example.com")
		ids := [][]byte{randomID(seed)}
		for seed.IntN(3) == 0 {
			ids = append(ids, randomID(seed))
		}
		list := Blend("key", name, ids)
		for _, id := range ids {
			if !slices.ContainsFunc(list, func(one []byte) bool { return bytes.Equal(one, id) }) {
				t.Fatalf("%x is missing", id)
			}
		}
		count(known, list)
		decoys := Blend("key", name+".", nil)
		count(unknown, decoys)
		if again := Blend("key", name+".", nil); !slices.EqualFunc(decoys, again, bytes.Equal) {
			t.Fatalf("the list of %s changes", name)
		}
		if other := Blend("key2", name+".", nil); slices.EqualFunc(decoys, other, bytes.Equal) {
			t.Fatalf("%s has the same list at another site", name)
		}
	}
	for what, n := range known {
		if m := unknown[what]; n > 30 && (m == 0 || n > 4*m) {
			t.Errorf("R-527 %s: %d times with passkeys, %d times without", what, n, m)
		}
	}
}

func randomID(seed *rand.Rand) []byte {
	id := make([]byte, []int{16, 20, 32, 48, 64}[seed.IntN(5)])
	for i := range id {
		id[i] = byte(seed.Uint32())
	}
	return id
}

// count counts what a client sees of a list.
func count(seen map[string]int, list [][]byte) {
	seen[fmt.Sprint("ids ", len(list))]++
	for i, id := range list {
		seen[fmt.Sprint("length ", len(id))]++
		seen[fmt.Sprint("first nibble ", id[0]>>4)]++
		if i > 0 && bytes.Compare(list[i-1], id) > 0 {
			seen["not in order"]++
		}
	}
}
