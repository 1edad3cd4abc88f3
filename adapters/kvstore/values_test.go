package kvstore

import (
	"strings"
	"testing"
	"time"
)

func TestMembersOfLaterVersionsSurvive(t *testing.T) {
	old := []byte(`{"user":"u","id":"i","expires":1,"tenant":"t","later":{"a":[1,9007199254740993]}}`)
	r := Record{Value: old}
	v, err := decode[sessionValue](&r)
	if err != nil {
		t.Fatal(err)
	}
	v.Expires, v.Tenant = stampOf(time.UnixMilli(2)), ""
	raw, err := encodeOver(old, v)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"entry":"","expires":2,"id":"i","later":{"a":[1,9007199254740993]},"user":"u"}`; string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}

func TestMembersOfEmbeddedStructsAreOurs(t *testing.T) {
	v := authenticatorValue{owned: owned{owner: owner{"u", "b"}}, ID: []byte{1}, Key: []byte{2}}
	raw, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := encodeOver([]byte(`{"user":"other","born":"x","name":"old"}`), v)
	if err != nil || string(again) != string(raw) {
		t.Errorf("got %s, error %v, want %s", again, err, raw)
	}
}

func TestUnreadableRecords(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{"user":`, "no object": `"u"`, "another type": `{"user":1,"id":"i","expires":1}`, "a time that is no number": `{"user":"u","expires":"1"}`,
		"a broken time": `{"user":"u","expires":1.5}`, "nobody's": `{"id":"i","expires":1}`, "without expiry": `{"user":"u","id":"i"}`, "two values": `{"user":"u","expires":1}{}`,
	} {
		r := Record{Key: Key{KindSession, "secret"}, Value: []byte(text)}
		_, err := decode[sessionValue](&r)
		if err == nil {
			t.Errorf("%s: was read", name)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user") {
			t.Errorf("%s: the error quotes the record: %v", name, err)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.UnixMilli(-1), time.Date(2300, 12, 31, 23, 59, 59, 999e6, time.UTC)} {
		raw, err := encode(sessionValue{owned: owned{owner: owner{User: "u"}}, Expires: stampOf(time.Unix(1, 0)), Created: stampOf(at)})
		if err != nil {
			t.Fatal(err)
		}
		v, err := decode[sessionValue](&Record{Value: raw})
		if err != nil || !v.Created.Time.Equal(at) || v.Created.IsZero() != at.IsZero() {
			t.Errorf("%v became %v, error %v", at, v.Created, err)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"user":"u","born":"b","id":"i","expires":1,"extra":{"a":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := Record{Value: raw}
		if v, err := decode[userValue](&r); err == nil {
			_, _ = v.user()
		}
		if v, err := decode[accountValue](&r); err == nil {
			_, _ = v.account()
		}
		v, err := decode[sessionValue](&r)
		if err != nil {
			return
		}
		again, err := encodeOver(raw, v)
		if err != nil {
			return
		}
		if _, err := decode[sessionValue](&Record{Value: again}); err != nil {
			t.Errorf("%q was read, and not what it was written as, %q", raw, again)
		}
	})
}
