package browser

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// usualFlow returns what the cookie of a sign-in by an unauthenticated client holds.
func usualFlow(now time.Time) []CheckValue {
	f := Flow{ID: "0123456789abcdef", Provider: "github", Verifier: "0123456789abcdef0123456789abcdef0123456789a", State: "s", Expires: now.Add(CheckMaxAge).Unix()}
	f.CallbackURL, f.Begun = "https://app.example/", now.UnixMilli()
	f.Record("https://app.example/auth/callback/github", Demands{})
	return []CheckValue{{ID: f.ID, Value: f.Verifier, Provider: f.Provider, Expires: f.Expires, FlowOrigin: f.FlowOrigin}}
}

// BenchmarkChecks measures a cookie that is sealed and opened again.
func BenchmarkChecks(b *testing.B) {
	codec, now := jwt.NewCodec([]string{"a secret for a benchmark that is long enough"}, "a cookie"), time.Now()
	held := usualFlow(now)
	b.ReportAllocs()
	for b.Loop() {
		sealed, err := sealChecks(codec, PKCE, held, now)
		if err != nil || openChecks(codec, PKCE, sealed, now) == nil {
			b.Fatal(sealed, err)
		}
	}
}
