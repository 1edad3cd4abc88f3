package jwtclaims_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestAppendIssued(t *testing.T) {
	now := time.Unix(1800000000, 999)
	for _, tt := range []struct {
		policy  string
		payload string
		maxAge  time.Duration
		want    string // with J for the fresh jti
	}{
		{"nothing", `{}`, 0, `{"iat":1800000000,"exp":1802592000,"jti":"J"}`},
		{"new claims come last", `{"a":1,"b":null}`, time.Hour, `{"a":1,"b":null,"iat":1800000000,"exp":1800003600,"jti":"J"}`},
		{"old claims keep their place", `{"jti":"x","a":1,"exp":[2],"b":3,"iat":null}`, time.Hour, `{"jti":"J","a":1,"exp":1800003600,"b":3,"iat":1800000000}`},
		{"values are copied as they are", `{"a": [ 1 ,2 ],"n":9007199254740993,"f":1.0}`, time.Hour, `{"a":[ 1 ,2 ],"n":9007199254740993,"f":1.0,"iat":1800000000,"exp":1800003600,"jti":"J"}`},
		{"names are quoted again", `{"\u0022\n":1,"{":2,"é":3}`, time.Hour, `{"\"\n":1,"{":2,"é":3,"iat":1800000000,"exp":1800003600,"jti":"J"}`},
		{"negative", `{}`, -time.Hour, `{"iat":1800000000,"exp":1799996400,"jti":"J"}`},
		{"fractions are dropped", `{}`, 1500 * time.Millisecond, `{"iat":1800000000,"exp":1800000001,"jti":"J"}`},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			members := mustMembers(t, tt.payload)
			got := string(jwtclaims.AppendIssued([]byte("{"), members, now, tt.maxAge))[1:]
			raw, _ := jsonscan.Lookup(mustMembers(t, got), "jti")
			jti, _ := jsonscan.Member{Raw: raw}.Text()
			if !uuid.MatchString(jti) {
				t.Errorf("jti = %q", jti)
			}
			if got = strings.Replace(got, jti, "J", 1); got != tt.want {
				t.Errorf("AppendIssued = %s, want %s", got, tt.want)
			}
			if !reflect.DeepEqual(members, mustMembers(t, tt.payload)) {
				t.Error("the members were changed")
			}
		})
	}
}

// BenchmarkAppendIssuedLongName needs no allocation with room enough.
func BenchmarkAppendIssuedLongName(b *testing.B) {
	members := mustMembers(b, `{"https://example.com/claims/a-name-of-more-than-32-bytes":1,"sub":"a"}`)
	dst := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		jwtclaims.AppendIssued(dst, members, time.Unix(1, 0), 0)
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
