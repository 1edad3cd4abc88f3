package kvstore

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sameAsStandard compares what readFlat makes of raw, if anything, to what
// encoding/json does.
func sameAsStandard[V any](t *testing.T, raw []byte, read func(*V) bool) {
	t.Helper()
	var got, want V
	if !read(&got) {
		return
	}
	if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q became %+v, want %+v, %v", raw, got, want, err)
	}
}

func FuzzFlat(f *testing.F) {
	for _, raw := range []string{
		`{"user":"u","entry":"e","id":"i","expires":1,"created":-2,"agent":"\u00e9\"é","tenant":"t","provider":"p","proved":3,"acr":"a"}`,
		`{"id":"i","born":"b","state":"new","settled":"s","name":"\ud800","email":"e","verified":4,"image":"","extra":{"a":[1, 2]}}`,
		`{"user":"u","user":"v"}`, `{"User":"u"}`, `{"user":null,"expires":null}`, `{"expires":01}`, `{"expires":1e3}`, `{"expires":"1"}`, ` {"extra": null } `, `null`, `{}x`, "{\"user\":\"\xff\"}",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		sameAsStandard(t, raw, func(v *sessionValue) bool { return readFlat(raw, v) })
		sameAsStandard(t, raw, func(v *userValue) bool { return readFlat(raw, v) })
	})
}

// TestUsualRecordsAreFlat: what every request reads never needs encoding/json.
func TestUsualRecordsAreFlat(t *testing.T) {
	now := stampOf(time.Now())
	for name, c := range map[string]struct {
		stored value
		read   flat
	}{
		"a session": {sessionValue{
			owned: owned{owner{User: "u"}, "e"}, ID: "i", Expires: now, Created: now, Agent: `Mozilla "5" é`, Tenant: "t", Provider: "p", Proved: now, ACR: "1",
		}, new(sessionValue)},
		"a user": {userValue{
			ID: "u", Born: "b", Settled: "s", Name: "Ada <é>", Email: "ada@example.com", Verified: now, Image: "https://example.com/?a&b", Extra: json.RawMessage(`{"a":[1]}`),
		}, new(userValue)},
	} {
		raw, err := encode(c.stored)
		if err != nil {
			t.Fatal(err)
		}
		if !readFlat(raw, c.read) || !reflect.DeepEqual(reflect.ValueOf(c.read).Elem().Interface(), c.stored) {
			t.Errorf("%s: %s became %+v", name, raw, c.read)
		}
	}
}

// TestOtherRecordsAreReadAsWell: by encoding/json, and nothing is left of the
// first try.
func TestOtherRecordsAreReadAsWell(t *testing.T) {
	for name, raw := range map[string]string{
		"a later version's": `{"user":"u","expires":1,"later":{"a":1}}`, "methods": `{"user":"u","expires":1,"amr":["pwd"]}`,
		"a member twice": `{"user":"x","expires":1,"acr":"a","user":"u"}`, "text that is not UTF-8": "{\"user\":\"u\",\"expires\":1,\"agent\":\"\xff\"}",
		"a text that is null": `{"user":"u","expires":1,"agent":null}`, "deep": `{"user":"u","expires":1,"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		var want sessionValue
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		got, err := decode[sessionValue](&Record{Value: []byte(raw)})
		if err != nil || !reflect.DeepEqual(got, want) || got.User != "u" {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}
