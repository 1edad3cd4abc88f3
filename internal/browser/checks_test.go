package browser

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
)

// FuzzPendingCheck is R-583: what a cookie says of sign-ins under way is JSON as its
// tags have it, for encoding/json too, and comes back.
func FuzzPendingCheck(f *testing.F) {
	codec := jwt.NewCodec([]string{"a secret for fuzzing that is long enough"}, "a cookie")
	f.Add("id", "value", "provider", "/\"\\\x00é", "user", "session", int64(1), int64(2), byte(0xff))
	f.Add("", "", "", "", "", "", int64(0), int64(0), byte(0))
	f.Add("id", "value\u2028", "provider", "/\"\\\x00é", "", "", int64(1), int64(0), byte(8))
	f.Fuzz(func(t *testing.T, id, value, provider, url, user, session string, since, age int64, flags byte) {
		if !utf8.ValidString(id + "|" + value + "|" + provider + "|" + url + "|" + user + "|" + session) {
			return
		}
		now := time.Now()
		h := CheckValue{ID: id, Value: value, Provider: provider, Expires: now.Unix() + 60}
		h.FlowOrigin = FlowOrigin{CallbackURL: url, CrossSite: flags&1 > 0, Fresh: flags&2 > 0, Ref: sessionref.Ref{UserID: user, SessionID: session, Since: since}}
		if flags&4 > 0 {
			h.MaxAge = &age
		}
		if flags&8 > 0 {
			h.Begun, h.Sent = since, Sent{Checks: []Check{PKCE, State}, To: url}
		}
		held := []CheckValue{h, {Value: "earlier", Provider: "some", Expires: 1, FlowOrigin: h.FlowOrigin}, h}[:1+flags%3]
		sealed, err := sealChecks(codec, State, held, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := openChecks(codec, State, sealed, now); !reflect.DeepEqual(got, held) {
			t.Errorf("opened %+v, want %+v", got, held)
		}
		if got := openChecks(codec, PKCE, sealed, now); got != nil {
			t.Errorf("opened for another purpose: %+v", got)
		}
		var read struct {
			CheckValue
			Purpose Check
			Earlier []CheckValue
		}
		payload, _ := codec.Open(sealed)
		if err := json.Unmarshal(payload, &read); err != nil {
			t.Fatal(err)
		}
		if got := append([]CheckValue{read.CheckValue}, read.Earlier...); read.Purpose != State || !reflect.DeepEqual(got, held) {
			t.Errorf("%s is read as %+v, want %+v", payload, got, held)
		}
	})
}

// TestUsualChecksAreReadWithoutReflection is R-583, too: what sealChecks writes for a
// sign-in by an unauthenticated client is what setUsual knows.
func TestUsualChecksAreReadWithoutReflection(t *testing.T) {
	codec, now := jwt.NewCodec([]string{"a secret of the site, long enough"}, "a cookie"), time.Now()
	held := usualFlow(now)
	sealed, err := sealChecks(codec, PKCE, held, now)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := codec.Open(sealed)
	members, err := jsonscan.Members(payload, nil)
	if err != nil {
		t.Fatal(err)
	}
	var read checkCookie
	if !read.setUsual(members) || !reflect.DeepEqual(read.CheckValue, held[0]) {
		t.Errorf("%s is read as %+v", payload, read)
	}
}

// TestPendingCheckOfAnotherType: a cookie whose members are of other types holds
// nothing.
func TestPendingCheckOfAnotherType(t *testing.T) {
	codec := jwt.NewCodec([]string{"a secret for fuzzing that is long enough"}, "a cookie")
	now := time.Now()
	for _, tt := range []struct {
		more string
		held bool
	}{
		{`"else":[1]`, true},
		{`"id":1`, false},
		{`"until":"1"`, false},
		{`"until":1.5`, false},
		{`"maxAge":{}`, false},
		{`"purpose":1`, false},
		{`"earlier":[1]`, false},
		{`"until":1e3`, false},
	} {
		sealed, err := codec.Seal(fmt.Appendf(nil, `{"value":"v","exp":%d,%s}`, now.Unix()+60, tt.more))
		if err != nil {
			t.Fatal(err)
		}
		if got := openChecks(codec, State, sealed, now); (got != nil) != tt.held {
			t.Errorf("%s: opened %+v", tt.more, got)
		}
	}
}

// TestPendingCheckOfEarlierVersions reads what cookies held before, byte by byte,
// and writes the same.
func TestPendingCheckOfEarlierVersions(t *testing.T) {
	codec := jwt.NewCodec([]string{"a secret for fuzzing that is long enough"}, "a cookie")
	now, age := time.Unix(1e9, 0), int64(0)
	how := FlowOrigin{CallbackURL: "/a?b=1&c=<\u00e9>", Demands: Demands{MaxAge: &age}, CrossSite: true, Fresh: true, Ref: sessionref.Ref{UserID: "u", SessionID: "s", Since: 5}}
	for name, row := range map[string]struct {
		held []CheckValue
		text string
	}{
		"one":  {[]CheckValue{{Value: "v", Provider: "p", Expires: 2e9}}, `{"value":"v","provider":"p","until":2000000000,"purpose":"state",`},
		"full": {[]CheckValue{{"i", "v", "p", 2e9, how}}, `{"id":"i","value":"v","provider":"p","until":2000000000,"callbackUrl":"/a?b=1&c=<é>","maxAge":0,"posted":true,"fresh":true,"user":"u","session":"s","since":5,"purpose":"state",`},
		"two":  {[]CheckValue{{Value: "v", Provider: "p", Expires: 2e9}, {ID: "j", Value: "w", Expires: 2e9}}, `{"value":"v","provider":"p","until":2000000000,"purpose":"state","earlier":[{"id":"j","value":"w","provider":"","until":2000000000}],`},
	} {
		t.Run(name, func(t *testing.T) {
			sealed, err := sealChecks(codec, State, row.held, now)
			if err != nil {
				t.Fatal(err)
			}
			payload, _ := codec.Open(sealed)
			if text, rest, _ := strings.Cut(string(payload), `"iat":`); text != row.text || rest == "" {
				t.Errorf("%s", payload)
			}
			old, err := codec.Seal([]byte(row.text + `"iat":1000000000,"exp":1000000900,"jti":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := openChecks(codec, State, old, now); !reflect.DeepEqual(got, row.held) {
				t.Errorf("opened %+v", got)
			}
		})
	}
	t.Run("one of Auth.js", func(t *testing.T) {
		sealed, err := codec.Seal([]byte(`{"value":"v","iat":1000000000,"exp":1000000900,"jti":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := openChecks(codec, State, sealed, now); !reflect.DeepEqual(got, []CheckValue{{Value: "v", Expires: 1000000900}}) {
			t.Errorf("opened %+v", got)
		}
	})
}
