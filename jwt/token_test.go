package jwt_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

var noon = time.Unix(1_800_000_000, 0)

func params() jwt.Params {
	return jwt.Params{Secrets: []string{secret}, Salt: salt, Time: func() time.Time { return noon }}
}

func TestEncodeDecode(t *testing.T) {
	c := jwt.Claims{
		"sub": "alice", "n": json.Number("9007199254740993"), "big": json.Number("123456789012345678901234567890"),
		"exp": "ignored", "nested": map[string]any{"a": []any{nil, true, "<&>"}},
	}
	before := maps.Clone(c)
	token, err := jwt.Encode(c, params())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, before) {
		t.Error("Encode changed its input")
	}
	got, err := jwt.Decode(token, params())
	if err != nil {
		t.Fatal(err)
	}
	if !uuid.MatchString(got.String("jti")) {
		t.Errorf("jti = %v", got["jti"])
	}
	delete(got, "jti")
	want := jwt.Claims{
		"sub": "alice", "n": json.Number("9007199254740993"), "big": json.Number("123456789012345678901234567890"),
		"iat": json.Number("1800000000"), "exp": json.Number("1802592000"), "nested": map[string]any{"a": []any{nil, true, "<&>"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Decode = %v, want %v", got, want)
	}
}

func TestLargeIntegersSurvive(t *testing.T) {
	c := jwt.Claims{"int": int64(9007199254740993), "uint": uint64(math.MaxUint64)}
	for range 3 { // renewed again and again, as sessions are
		token, err := jwt.Encode(c, params())
		if err != nil {
			t.Fatal(err)
		}
		if c, err = jwt.Decode(token, params()); err != nil {
			t.Fatal(err)
		}
	}
	if c.String("int") != "9007199254740993" || c.String("uint") != "18446744073709551615" {
		t.Errorf("claims = %v", c)
	}
}

func TestEncodeWritesNoHTMLEscapes(t *testing.T) {
	token, err := jwt.Encode(jwt.Claims{"url": "/?a=1&b=<2>"}, params())
	if err != nil {
		t.Fatal(err)
	}
	payload, err := jwt.NewCodec([]string{secret}, salt).Open(token)
	if err != nil || !strings.HasPrefix(string(payload), `{"url":"/?a=1&b=<2>","iat":1800000000,`) {
		t.Errorf("payload = %s, %v", payload, err)
	}
}

func TestEncodeNothing(t *testing.T) {
	for _, c := range []jwt.Claims{nil, {}} {
		token, err := jwt.Encode(c, params())
		if err != nil {
			t.Fatal(err)
		}
		got, err := jwt.Decode(token, params())
		if err != nil || len(got) != 3 {
			t.Errorf("Decode = %v, %v, want iat, exp and jti", got, err)
		}
	}
}

func TestMaxAge(t *testing.T) {
	for maxAge, want := range map[time.Duration]string{0: "1802592000", time.Hour: "1800003600", -time.Hour: "1799996400"} {
		p := params()
		p.MaxAge = maxAge
		token, err := jwt.Encode(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		c, err := jwt.Decode(token, p)
		if maxAge < 0 {
			if err != jwt.ErrExpired || c != nil {
				t.Errorf("%v: Decode = %v, %v, want ErrExpired", maxAge, c, err)
			}
		} else if c.String("exp") != want {
			t.Errorf("%v: exp = %v, %v, want %s", maxAge, c["exp"], err, want)
		}
	}
}

func TestEncodeFails(t *testing.T) {
	cycle := jwt.Claims{}
	cycle["self"] = cycle
	deep := any(nil)
	for range 2000 {
		deep = []any{deep}
	}
	for policy, c := range map[string]jwt.Claims{
		"a channel": {"c": make(chan int)}, "not a number": {"f": math.NaN()}, "a cycle": cycle, "too deep": {"d": deep},
	} {
		if token, err := jwt.Encode(c, params()); err == nil || token != "" {
			t.Errorf("%s: Encode = %q, %v", policy, token, err)
		}
	}
	if _, err := jwt.Encode(jwt.Claims{"big": strings.Repeat("x", jwt.MaxLen)}, params()); !errors.Is(err, jwt.ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	for _, secrets := range [][]string{nil, {""}, {secret, " "}} {
		p := params()
		p.Secrets = secrets
		if _, err := jwt.Encode(nil, p); !errors.Is(err, jwt.ErrNoSecret) {
			t.Errorf("R-091 Encode with %q: %v", secrets, err)
		}
		if _, err := jwt.Decode("a.b.c.d.e", p); !errors.Is(err, jwt.ErrNoSecret) {
			t.Errorf("R-091 Decode with %q: %v", secrets, err)
		}
	}
}

func TestTheSystemClockIsTheDefault(t *testing.T) {
	p := params()
	p.Time = nil
	before := time.Now().Truncate(time.Second)
	token, err := jwt.Encode(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := jwt.Decode(token, p)
	if err != nil {
		t.Fatal(err)
	}
	if iat, ok := c.Time("iat"); !ok || iat.Before(before) || iat.After(time.Now()) {
		t.Errorf("iat = %v", iat)
	}
}

func TestClaimsString(t *testing.T) {
	c := jwt.Claims{
		"text": "x", "empty": "", "null": nil, "bool": true, "list": []any{"a"}, "object": map[string]any{},
		"number": json.Number("42"), "large": json.Number("-9007199254740993"), "exponent": json.Number("1.5e3"), "fraction": json.Number("0.50"),
		"beyond": json.Number("1e999"), "odd": json.Number("x"), "none": json.Number(""), "float": 1e21, "nan": math.NaN(), "float32": float32(0.5),
		"int": -1, "int32": int32(2), "int64": int64(3), "uint": uint(4), "uint32": uint32(5), "uint64": uint64(6),
	}
	for keys, want := range map[string]string{
		"text": "x", "empty text": "", "null text": "x", "absent text": "x", "bool list object text": "x", "bool": "", "absent": "", "null": "",
		"number": "42", "large": "-9007199254740993", "exponent": "1500", "fraction": "0.5", "beyond text": "x", "odd text": "x", "none text": "x",
		"float": "1000000000000000000000", "nan text": "x", "float32": "0.5", "int": "-1", "int32": "2", "int64": "3", "uint": "4", "uint32": "5", "uint64": "6",
		"number text": "42",
	} {
		if got := c.String(strings.Fields(keys)...); got != want {
			t.Errorf("String(%s) = %q, want %q", keys, got, want)
		}
	}
	if got := jwt.Claims(nil).String("a"); got != "" {
		t.Errorf("String of nil = %q", got)
	}
}

func TestClaimsBool(t *testing.T) {
	c := jwt.Claims{"true": true, "text": "true", "false": false, "no": "false", "capital": "True", "one": json.Number("1"), "null": nil}
	for key, want := range map[string]bool{"true": true, "text": true, "false": false, "no": false, "capital": false, "one": false, "null": false, "absent": false} {
		if got := c.Bool(key); got != want {
			t.Errorf("Bool(%s) = %t, want %t", key, got, want)
		}
	}
}

func TestClaimsTime(t *testing.T) {
	c := jwt.Claims{
		"n": json.Number("1800000000"), "f": json.Number("1800000000.25"), "int": 1800000000, "neg": json.Number("-1"),
		"text": "1800000000", "null": nil, "huge": json.Number("1e15"), "beyond": json.Number("1e999"),
	}
	for key, want := range map[string]time.Time{
		"n": noon, "int": noon, "f": noon.Add(250 * time.Millisecond), "neg": time.Unix(-1, 0),
	} {
		if got, ok := c.Time(key); !ok || !got.Equal(want) {
			t.Errorf("Time(%s) = %v, %t, want %v", key, got, ok, want)
		}
	}
	for _, key := range []string{"text", "null", "huge", "beyond", "absent"} {
		if got, ok := c.Time(key); ok || !got.IsZero() {
			t.Errorf("Time(%s) = %v, %t, want nothing", key, got, ok)
		}
	}
}
