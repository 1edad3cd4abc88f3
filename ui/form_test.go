package ui

import "testing"

func TestParamsJoinTheQuery(t *testing.T) {
	params := map[string]string{"prompt": "log in", "a&b": "1"}
	for to, want := range map[string]string{
		"/signin/x":          "/signin/x?a%26b=1&prompt=log+in",
		"/signin/x?tenant=1": "/signin/x?tenant=1&a%26b=1&prompt=log+in",
	} {
		if got := withParams(to, params); got != want {
			t.Errorf("%s: got %s, want %s", to, got, want)
		}
		if got := withParams(to, nil); got != to {
			t.Errorf("%s without params: got %s", to, got)
		}
	}
}
