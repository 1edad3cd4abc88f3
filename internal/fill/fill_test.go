package fill_test

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
)

type endpoint struct {
	URL    string
	Params url.Values
	Header map[string]string
}

type config struct {
	ID       string
	On       bool
	Number   int
	Life     time.Duration
	At       time.Time
	Endpoint endpoint
	Scopes   []string
	Lists    map[string][]string
	Hook     func() string
	Pointer  *int
	Any      any

	hidden string
}

func TestFrom(t *testing.T) {
	one, two := 1, 2
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name                string
		dst, defaults, want config
	}{
		{"nothing from nothing", config{}, config{}, config{}},
		{
			"an empty struct takes everything",
			config{},
			config{ID: "d", On: true, Number: 7, Life: time.Hour, At: at, Endpoint: endpoint{URL: "u"}, Scopes: []string{"a"}, Pointer: &one, Any: 1},
			config{ID: "d", On: true, Number: 7, Life: time.Hour, At: at, Endpoint: endpoint{URL: "u"}, Scopes: []string{"a"}, Pointer: &one, Any: 1},
		},
		{
			"what is there stays",
			config{ID: "mine", Number: 1, Life: time.Second, At: at.Add(1), Endpoint: endpoint{URL: "mine"}, Scopes: []string{"mine"}, Pointer: &two, Any: "mine"},
			config{ID: "d", Number: 7, Life: time.Hour, At: at, Endpoint: endpoint{URL: "u"}, Scopes: []string{"a", "b"}, Pointer: &one, Any: 1},
			config{ID: "mine", Number: 1, Life: time.Second, At: at.Add(1), Endpoint: endpoint{URL: "mine"}, Scopes: []string{"mine"}, Pointer: &two, Any: "mine"},
		},
		{"a default of true cannot be turned off", config{On: false}, config{On: true}, config{On: true}},
		{"nested structs field by field", config{Endpoint: endpoint{Params: url.Values{"a": {"1"}}}}, config{Endpoint: endpoint{URL: "u"}}, config{Endpoint: endpoint{URL: "u", Params: url.Values{"a": {"1"}}}}},
		{
			"maps key by key, ours first",
			config{Endpoint: endpoint{Params: url.Values{"a": {"mine"}, "b": nil}, Header: map[string]string{"x": ""}}},
			config{Endpoint: endpoint{Params: url.Values{"a": {"d"}, "b": {"d"}, "c": {"d"}}, Header: map[string]string{"x": "d", "y": "d"}}},
			config{Endpoint: endpoint{Params: url.Values{"a": {"mine"}, "b": nil, "c": {"d"}}, Header: map[string]string{"x": "", "y": "d"}}},
		},
		{"an empty map is filled", config{Lists: map[string][]string{}}, config{Lists: map[string][]string{"a": {"1"}}}, config{Lists: map[string][]string{"a": {"1"}}}},
		{"an empty list is a choice", config{Scopes: []string{}}, config{Scopes: []string{"a"}}, config{Scopes: []string{}}},
		{"a map without defaults stays", config{Lists: map[string][]string{"a": nil}}, config{}, config{Lists: map[string][]string{"a": nil}}},
		{"unexported fields are left alone", config{hidden: "mine"}, config{hidden: "d"}, config{hidden: "mine"}},
		{"and not filled", config{}, config{hidden: "d"}, config{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.dst
			fill.From(&got, c.defaults)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFromFunctions(t *testing.T) {
	mine, theirs := func() string { return "mine" }, func() string { return "theirs" }
	c := config{Hook: mine}
	fill.From(&c, config{Hook: theirs})
	if c.Hook() != "mine" {
		t.Error("a function was replaced")
	}
	c = config{}
	fill.From(&c, config{Hook: theirs})
	if c.Hook == nil || c.Hook() != "theirs" {
		t.Error("a function was not taken")
	}
}

// Neither side may change the other afterwards, nor is anything changed by
// filling.
func TestFromShares(t *testing.T) {
	defaults := config{Scopes: []string{"a"}, Lists: map[string][]string{"k": {"v"}}, Endpoint: endpoint{Params: url.Values{"p": {"d"}, "q": {"d"}}}}
	ours := url.Values{"p": {"mine"}}
	filled := config{Endpoint: endpoint{Params: ours}}
	fill.From(&filled, defaults)
	if len(ours) != 1 {
		t.Errorf("the caller's map became %v", ours)
	}
	filled.Scopes[0], filled.Lists["k"][0], filled.Endpoint.Params["q"][0] = "x", "x", "x"
	filled.Lists["new"], filled.Endpoint.Params["new"] = nil, nil
	filled.Scopes = append(filled.Scopes[:1], "more")
	if !slices.Equal(defaults.Scopes, []string{"a"}) || !maps.EqualFunc(defaults.Lists, map[string][]string{"k": {"v"}}, slices.Equal) ||
		!maps.EqualFunc(defaults.Endpoint.Params, url.Values{"p": {"d"}, "q": {"d"}}, slices.Equal) {
		t.Errorf("the defaults became %+v", defaults)
	}
}

func TestFromTwice(t *testing.T) {
	c := config{ID: "mine"}
	fill.From(&c, config{ID: "first", Number: 1})
	fill.From(&c, config{Number: 2, Life: 3})
	if want := (config{ID: "mine", Number: 1, Life: 3}); !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
}
