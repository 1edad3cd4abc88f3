package dynamoadapter

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// S-025: expiry is read as Auth.js writes it, and as others might.
func TestExpiry(t *testing.T) {
	whole := time.Date(2031, 5, 17, 22, 30, 15, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"1936823415": whole, "1936823415.123": whole.Add(123 * time.Millisecond), "1936823415.5": whole.Add(500 * time.Millisecond), "1.936823415E+9": whole,
		"NaN": {}, "1E+125": {}, "": {},
	} {
		got, says := expiryOf(number(text))
		if !got.Equal(want) || says == want.IsZero() {
			t.Errorf("%q: %v, %t", text, got, says)
		}
	}
	for _, want := range []time.Time{whole, whole.Add(time.Millisecond), whole.Add(999 * time.Millisecond), time.UnixMilli(0).UTC()} {
		if got, says := expiryOf(secondsOf(want)); !says || !got.Equal(want) {
			t.Errorf("%v is read as %v", want, got)
		}
	}
	if got, says := expiryOf(text(isoOf(whole))); !says || !got.Equal(whole) {
		t.Errorf("ISO text is read as %v", got)
	}
}

// FuzzItems: whatever an item holds, reading it ends, and what is read of a user
// can be written.
func FuzzItems(f *testing.F) {
	f.Add("ada@example.com", "2031-05-17T22:30:15.123Z", `{"born":"x","as":"y"}`, "1936866615.123")
	f.Add("", "", "null", "NaN")
	f.Add("\xff", "2031", `{"born":1,"state":{}}`, "1E+125")
	p := userConn{&conn{pk: "pk", sk: "sk"}, AuthJS().named()}
	key := kvstore.Key{Kind: kvstore.KindUser, Name: "id"}
	f.Fuzz(func(t *testing.T, email, verified, details, expires string) {
		in := item{
			"email": text(email), "emailVerified": text(verified), detailsField: text(details), "expires": number(expires), "sessionToken": text("t"),
			"amr": &types.AttributeValueMemberL{Value: []types.AttributeValue{number(expires), text(email)}},
		}
		_, _ = asSession(in)
		r, err := p.record(key, in)
		if err != nil {
			return
		}
		r.Version = "v"
		again, err := p.userItem(r)
		if err == nil && textOf(again["id"]) != "id" {
			t.Errorf("the id is %q", textOf(again["id"]))
		}
	})
}
