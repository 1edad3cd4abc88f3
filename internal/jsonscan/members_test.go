package jsonscan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// session is a payload as a sign-in leaves it.
const session = `{"name":"Alice Example","email":"alice@example.com","picture":null,"sub":"a3bb189e-8bf9-4c5c-9d5e-000000000000","iat":1800000000,"exp":1802592000,"jti":"0e37df36-f698-4b5c-8e10-9b1f9f0a0a0a"}    `

func write(members []jsonscan.Member) string {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%s=%s;", m.Key, m.Raw)
	}
	return b.String()
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct{ policy, payload, want string }{
		{"empty", `{}`, ""},
		{
			"every type", `{"a":"x","b":-1.5e+3,"c":true,"d":false,"e":null,"f":[1,[]],"g":{"h":{}}}`,
			`a="x";b=-1.5e+3;c=true;d=false;e=null;f=[1,[]];g={"h":{}};`,
		},
		{"space anywhere", " \t\r\n{ \"a\" : 1 , \"b\" : [ 1 , { \"c\" : 2 } ] } \n", `a=1;b=[ 1 , { "c" : 2 } ];`},
		{"braces in text", `{"a":"}{\"","b":"\\"}`, `a="}{\"";b="\\";`},
		{"escapes in names", `{"\u0061\n":1,"ü":2}`, "a\n=1;ü=2;"},
		{"an empty name", `{"":1}`, "=1;"},
		{"the later value in the earlier place", `{"a":1,"b":2,"a":3}`, "a=3;b=2;"},
		{"also when one name is escaped", `{"a":1,"\u0061":3}`, "a=3;"},
		{"repeated names inside are not looked at", `{"a":{"b":1,"b":2}}`, `a={"b":1,"b":2};`},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			if got := write(mustMembers(t, tt.payload)); got != tt.want {
				t.Errorf("Members = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestMembersIsStrict(t *testing.T) {
	for _, payload := range []string{
		"", " ", "null", "1", `"a"`, "[]", "true", "{", "}", "{}{}", "{} x", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1 "b":2}`,
		`{a:1}`, `{'a':1}`, `{1:1}`, `{"a":01}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":-}`, `{"a":0x1}`, `{"a":NaN}`,
		`{"a":Infinity}`, `{"a":tru}`, `{"a":nul`, `{"a":True}`, `{"a":"}`, `{"a":"\x"}`, `{"a":"\u00g0"}`, `{"a":"\u00`, `{"a":"\`, `{"\`, `{"a\`, `{"\u`, `{"\u00`, "{\"a\":\"\n\"}",
		"{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", "\xef\xbb\xbf{}", "{\"a\":1}\x00", `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[}`, `{"a":[`, `/**/{}`,
		`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		if members, err := jsonscan.Members([]byte(payload), nil); !errors.Is(err, jsonscan.ErrInvalid) || members != nil {
			t.Errorf("Members(%.100q) = %s, %v, want ErrInvalid", payload, write(members), err)
		}
	}
}

// everything has each construct of JSON, so that its prefixes end in the middle
// of each.
const everything = ` {"a\"\\\/\b\f\n\r\t\u00e9\ud83e\udd8a" : "\"\\\/\b\f\n\r\t\u00E9", "b":[-0.5e+3, 1E-2 ,0,[],{}], "c":{"\u0064":true,"e":false,"f":null} , "ü":"🦊"} `

func TestCutTextNeverPanics(t *testing.T) {
	whole := len(strings.TrimRight(everything, " "))
	for n := range len(everything) + 1 {
		cut := append(make([]byte, 0, n), everything[:n]...) // no room behind the end
		if _, err := jsonscan.Members(slices.Clip(cut), nil); (err == nil) != (n >= whole) {
			t.Errorf("Members(%q) = %v", cut, err)
		}
		for b := range 256 {
			changed := slices.Clip(append(make([]byte, 0, n+1), everything[:n]...))
			if n > 0 {
				changed[n-1] = byte(b)
			}
			if members, err := jsonscan.Members(changed, nil); err == nil {
				sameAsStandard(t, changed, members)
			}
		}
	}
}

func TestMembersAppends(t *testing.T) {
	dst := []jsonscan.Member{{Key: []byte("a"), Raw: []byte("0")}}
	members, err := jsonscan.Members([]byte(`{"a":1,"a":2}`), dst)
	if err != nil || write(members) != "a=0;a=2;" {
		t.Errorf("Members = %s, %v: it must leave what was there", write(members), err)
	}
	payload := []byte(session)
	if n := testing.AllocsPerRun(20, func() { dst, _ = jsonscan.Members(payload, dst[:0]) }); n > 0 {
		t.Errorf("%v allocations with room enough", n)
	}
}

func TestDistinctMembers(t *testing.T) {
	dst := []jsonscan.Member{{Key: []byte("a"), Raw: []byte("0")}}
	members, err := jsonscan.DistinctMembers([]byte(`{"a":1,"b":{"c":2,"c":3}}`), dst)
	if err != nil || write(members) != `a=0;a=1;b={"c":2,"c":3};` {
		t.Errorf("DistinctMembers = %s, %v: it must leave what was there, and what is inside", write(members), err)
	}
	for _, text := range []string{`{"a":1,"a":1}`, `{"a":1,"b":2,"\u0061":3}`, `{"":1,"":2}`, `[]`, `{"a":1`, ""} {
		if members, err := jsonscan.DistinctMembers([]byte(text), nil); err != jsonscan.ErrInvalid || members != nil {
			t.Errorf("DistinctMembers(%s) = %s, %v, want ErrInvalid", text, write(members), err)
		}
	}
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `"%d":%d,`, i%2500, i)
	}
	members := mustMembers(t, "{"+b.String()+`"0":"last"}`)
	if len(members) != 2500 || string(members[0].Raw) != `"last"` || string(members[2499].Raw) != "4999" {
		t.Errorf("%d members", len(members))
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e9\ud83e\udd8a"`: "é🦊", `"\ud800"`: "\ufffd",
	} {
		if got, ok := (jsonscan.Member{Raw: []byte(raw)}).Text(); got != want || !ok {
			t.Errorf("Text(%s) = %q, %t, want %q", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", "null", "1", "true", "[]", "{}", `"`} {
		if got, ok := (jsonscan.Member{Raw: []byte(raw)}).Text(); got != "" || ok {
			t.Errorf("Text(%s) = %q, %t, want nothing", raw, got, ok)
		}
	}
}

func TestAppendText(t *testing.T) {
	for text, want := range map[string]string{
		"":                 `""`,
		"plain":            `"plain"`,
		"a\"b\\c":          `"a\"b\\c"`,
		"\b\t\n\f\r":       `"\b\t\n\f\r"`,
		"\x00\x0b\x1f\x7f": "\"\\u0000\\u000b\\u001f\x7f\"",
		"é🦊<&>\u2028":      "\"é🦊<&>\u2028\"",
		"\xff":             "\"\ufffd\"",
	} {
		if got := string(jsonscan.AppendText(nil, text)); got != want {
			t.Errorf("AppendText(%q) = %s, want %s", text, got, want)
		}
		if got := string(jsonscan.Member{Key: []byte(text)}.AppendKey([]byte("{"))); got != "{"+want {
			t.Errorf("AppendKey(%q) = %s, want {%s", text, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	members := mustMembers(t, `{"a":null,"b":1}`)
	if raw, ok := jsonscan.Lookup(members, "a"); string(raw) != "null" || !ok {
		t.Errorf("Lookup(a) = %s, %t", raw, ok)
	}
	if raw, ok := jsonscan.Lookup(members, "c"); raw != nil || ok {
		t.Errorf("Lookup(c) = %s, %t", raw, ok)
	}
}

func TestSet(t *testing.T) {
	members := mustMembers(t, `{"a":null,"b":1}`)
	members = jsonscan.Set(jsonscan.Set(members, "c", []byte(`"new"`)), "a", []byte("2"))
	for i, want := range []string{"a=2", "b=1", `c="new"`} {
		if got := string(members[i].Key) + "=" + string(members[i].Raw); got != want {
			t.Errorf("member %d is %s, want %s", i, got, want)
		}
	}
}

// sameAsStandard compares with encoding/json, which repairs invalid UTF-8 where
// we refuse it.
func sameAsStandard(t *testing.T, payload []byte, members []jsonscan.Member) {
	t.Helper()
	var want map[string]json.RawMessage
	if err := json.Unmarshal(payload, &want); err != nil {
		t.Fatalf("we accept %q, encoding/json does not: %v", payload, err)
	}
	if len(members) != len(want) {
		t.Fatalf("%d members of %q, want %d", len(members), payload, len(want))
	}
	for _, m := range members {
		if raw, ok := want[string(m.Key)]; !ok || string(raw) != string(m.Raw) {
			t.Errorf("%q = %q, want %q", m.Key, m.Raw, raw)
		}
	}
}

func mustMembers(tb testing.TB, payload string) []jsonscan.Member {
	tb.Helper()
	members, err := jsonscan.Members([]byte(payload), nil)
	if err != nil {
		tb.Fatalf("%s: %v", payload, err)
	}
	return members
}

// TestDepth: an object or array on level 1001 is refused, whether or not it is empty.
func TestDepth(t *testing.T) {
	for inner, fits := range map[string]bool{"": true, "0": true, "[]": false, "{}": false, "[0]": false} {
		text := []byte(`{"a":` + strings.Repeat("[", 999) + inner + strings.Repeat("]", 999) + `}`)
		_, membersErr := jsonscan.Members(text, nil)
		_, decodeErr := jsonscan.Decode(text)
		if (membersErr == nil) != fits || (decodeErr == nil) != fits {
			t.Errorf("%q on level 1001: Members %v, Decode %v", inner, membersErr, decodeErr)
		}
	}
}
