package browser

import (
	"net/http"
	"testing"
	"time"
)

// an answer completes a sign-in only if everything that was sent comes back.
func TestAnswerOfAFlow(t *testing.T) {
	specs := NewSpecs(Options{}, []string{"a secret of the site, long enough"}, true, func(salt string) string { return salt })
	now := time.Now()
	const back = "https://app.example/auth/callback/p"
	for name, c := range map[string]struct {
		provider string
		change   func(f *Flow, a *Answer, sent map[string]string)
		found    bool // by the state
		ok       bool
	}{
		"as it was sent":              {"p", func(*Flow, *Answer, map[string]string) {}, true, true},
		"another state":               {"p", func(_ *Flow, a *Answer, _ map[string]string) { a.State += "x" }, false, false},
		"no state":                    {"p", func(_ *Flow, a *Answer, _ map[string]string) { a.State = "" }, false, false},
		"another provider":            {"q", func(*Flow, *Answer, map[string]string) {}, false, false},
		"another redirect URI":        {"p", func(_ *Flow, a *Answer, _ map[string]string) { a.RedirectURI += "2" }, true, false},
		"another response mode":       {"p", func(_ *Flow, a *Answer, _ map[string]string) { a.Posted = true }, true, false},
		"the nonce was taken away":    {"p", func(_ *Flow, _ *Answer, sent map[string]string) { delete(sent, specs.Nonce.Name()) }, true, false},
		"the verifier was taken away": {"p", func(_ *Flow, a *Answer, sent map[string]string) { delete(sent, specs.PKCE.Name()) }, true, false},
	} {
		t.Run("R-504 "+name, func(t *testing.T) {
			f := &Flow{ID: "id", Provider: "p", Verifier: "verifier", State: "state", Nonce: "nonce", Expires: now.Add(CheckMaxAge).Unix()}
			f.Record(back, Demands{})
			began := NewCookies(http.Header{}, specs, now)
			if err := began.Begin(f, false, now); err != nil {
				t.Fatal(err)
			}
			a, sent := Answer{State: f.StateParam(), RedirectURI: back}, map[string]string{}
			for _, k := range began.Out {
				sent[k.Name] = k.Value
			}
			c.change(f, &a, sent)
			h := http.Header{}
			for name, value := range sent {
				h["Cookie"] = append(h["Cookie"], name+"="+value)
			}
			k := NewCookies(h, specs, now)
			found := false
			for _, f := range k.Flows(c.provider, now) {
				if !f.IsNamedBy(a.State) {
					continue
				}
				found = true
				if err := f.Mismatch(a, nil); (err == nil) != c.ok {
					t.Errorf("%v", err)
				}
			}
			if found != c.found {
				t.Errorf("found: %t", found)
			}
		})
	}
	t.Run("R-504 a flow of which only a foreign cookie is left", func(t *testing.T) {
		f := &Flow{ID: "id", Provider: "p", State: "state"}
		if f.Mismatch(Answer{State: "state", RedirectURI: back}, nil) == nil {
			t.Error("a flow that does not say what was sent is completed")
		}
	})
	t.Run("R-504 a cookie of one check is none of another", func(t *testing.T) {
		for _, to := range []Check{State, Nonce, Challenge} {
			sealed, err := sealChecks(specs.of(to).Codec, PKCE, []CheckValue{{Value: "v", Provider: "p", Expires: now.Unix() + 60}}, now)
			if err != nil {
				t.Fatal(err)
			}
			k := NewCookies(http.Header{"Cookie": {specs.of(to).Name() + "=" + sealed}}, specs, now)
			if held := k.CheckValues(to, now); held != nil {
				t.Errorf("%s: %+v", to, held)
			}
		}
	})
}
