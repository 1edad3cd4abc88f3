package password_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/password"
)

func TestWeakness(t *testing.T) {
	h := newHasher(t, password.Options{Words: []string{"Initech"}})
	about := []string{"Ada.Lovelace@example.com", "Ada Lovelace", "shop.example.org"}
	for _, row := range []struct{ password, code string }{
		// Long enough, by characters and not by bytes.
		{"", password.Short},
		{"kQ9$vLx", password.Short},
		{"密码密码密码密", password.Short},
		{"kQ9$vLx2", ""},
		{"木漏れ日と風鈴", password.Short},
		{"木漏れ日と風鈴の音", ""},
		{"пароль из четырёх слов", ""},
		{"a sentence that a person remembers may have many more than 64 characters", ""},
		{strings.Repeat("kQ9$vLx2 ", 7), password.Repeated},
		{strings.Repeat("ab c9!Zq", 128), password.Repeated},
		{strings.Repeat("x", 1025), password.Long},
		{strings.Repeat("é", 513), password.Long},
		// Characters.
		{"tab\tstays out of it", password.Control},
		{"line\nbreaks as well", password.Control},
		{"bell\x07 of a terminal", password.Control},
		{"no broken \xff UTF-8 here", password.Control},
		{" leading and trailing ", ""},
		{"correct horse battery staple", ""},
		{"Tr0ub4dor&3 is no better", ""},
		{"🦊🐻🐼🐨🐯🦁🐮🐷", ""},
		// Repetitions and runs.
		{"aaaaaaaa", password.Repeated},
		{"aaaaaaaaaaaaaaaaaaaaaaaa", password.Repeated},
		{"abababab", password.Repeated},
		{"abcabcabcabc", password.Repeated},
		{"xyz!xyz!xyz!", password.Repeated},
		{"aaaabbbb", password.Repeated},
		{"12345678", password.Repeated},
		{"87654321", password.Repeated},
		{"1234567890", password.Repeated},
		{"abcdefgh", password.Repeated},
		{"ABCDEFGH", password.Repeated},
		{"zyxwvuts", password.Repeated},
		{"qwertyuiop", password.Repeated},
		{"QWERTZUIOP", password.Repeated},
		{"poiuytrewq", password.Repeated},
		{"asdfghjkl", password.Repeated},
		{"azertyuiop", password.Repeated},
		{"1qaz2wsx3edc", password.Repeated},
		{"abcd1234", password.Repeated},
		{"qwertyasdfgh", password.Repeated},
		{"абвгдежз", password.Repeated},
		{"abcdefgh, not alone here", ""},
		// The list.
		{"password", password.Common},
		{"Password", password.Common},
		{"PASSWORD1", password.Common},
		{"iloveyou", password.Common},
		{"football", password.Common},
		{"ｐａｓｓｗｏｒｄ", password.Common},
		{"passwordpassword", ""},
		{"iloveyou to the moon", ""},
		// Names.
		{"ada.lovelace@example.com", password.Context},
		{"ADA.LOVELACE@EXAMPLE.COM", password.Context},
		{"ada.lovelace", password.Context},
		{"lovelace", password.Context},
		{"Lovelace1815", password.Context},
		{"ada lovelace 99", password.Context},
		{"example2026", password.Context},
		{"shop.example.org!", password.Context},
		{"initech1", password.Context},
		{"Initech-2026!", password.Context},
		{"lovelace met babbage in june", ""},
		{"initech fired me on a friday", ""},
	} {
		t.Run(row.password[:min(len(row.password), 24)], func(t *testing.T) {
			code, err := h.Weakness(t.Context(), row.password, about)
			if err != nil || code != row.code {
				t.Errorf("%q: %q, want %q, %v", row.password, code, row.code, err)
			}
		})
	}
}

func TestMinLength(t *testing.T) {
	h := newHasher(t, password.Options{MinLength: 15})
	for typed, want := range map[string]string{"kQ9$vLx2 mR4&w": password.Short, "kQ9$vLx2 mR4&wz": ""} {
		if code, err := h.Weakness(t.Context(), typed, nil); err != nil || code != want {
			t.Errorf("%q: %q, %v", typed, code, err)
		}
	}
}

// rangeServer answers as the range API does, and keeps what it was asked.
func rangeServer(t *testing.T, status int, body string) (url string, asked *[]*http.Request) {
	asked = new([]*http.Request)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r)
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/range/", asked
}

// The SHA-1 of "correct horse battery staple" is ABF7A + suffix.
const suffix = "AD6438836DBE526AA231ABDE2D0EEF74D42"

// TestLeaksAreOfOneText: a sign-in asks about the text that a new password is stored by,
// however the user's keyboard has put its letters together.
func TestLeaksAreOfOneText(t *testing.T) {
	const composed, decomposed = "correct h\u00f6rse battery", "correct ho\u0308rse battery"
	var asked []string
	h := newHasher(t, password.Options{CheckBreached: true, Breached: func(_ context.Context, text string) (bool, error) { asked = append(asked, text); return false, nil }})
	if code, err := h.Weakness(t.Context(), decomposed, nil); code != "" || err != nil {
		t.Fatal(code, err)
	}
	if got, err := h.Check(t.Context(), hashOf(t, h, decomposed), decomposed); !got.OK || err != nil {
		t.Fatal(got, err)
	}
	if !slices.Equal(asked, []string{composed, composed}) {
		t.Errorf("the service was asked about %q", asked)
	}
}

// TestRangeAPI (F-091): only five digits of a hash leave, and answers are read as they are.
func TestRangeAPI(t *testing.T) {
	const typed = "correct horse battery staple"
	other := "0018A45C4D1DEF81644B54AB7F969B88D65:3\r\n"
	for _, row := range []struct {
		name   string
		status int
		body   string
		code   string
		logs   string
	}{
		{"it is listed", 200, other + suffix + ":12\r\n", password.Breached, ""},
		{"it is not listed", 200, other, "", ""},
		{"it is padding", 200, other + suffix + ":0\r\n", "", ""},
		{"the service fails", 500, suffix + ":12", "", "500"},
		{"the service sends elsewhere", 302, suffix + ":12", "", "302"},
		{"the service answers with a page", 200, "<html>sorry</html>", "", "no lines"},
		{"the service answers with nothing", 200, "", "", "no lines"},
		{"the service answers without end", 200, strings.Repeat("x", 3<<20), "", "broke off"},
	} {
		t.Run(row.name, func(t *testing.T) {
			url, asked := rangeServer(t, row.status, row.body)
			var log strings.Builder
			h := newHasher(t, password.Options{Breached: password.RangeAPI(url, nil), CheckBreached: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			code, err := h.Weakness(t.Context(), typed, nil)
			if err != nil || code != row.code || !strings.Contains(log.String(), row.logs) || (row.logs == "") != (log.String() == "") {
				t.Errorf("%q, %v, logged %q", code, err, log.String())
			}
			got, err := h.Check(t.Context(), hashOf(t, h, typed), typed)
			if err != nil || !got.OK || got.Breached != (row.code != "") {
				t.Errorf("at sign-in: %+v, %v", got, err)
			}
			for _, r := range *asked {
				if r.URL.Path != "/range/ABF7A" || r.URL.RawQuery != "" || r.Header.Get("Add-Padding") != "true" || r.ContentLength > 0 {
					t.Errorf("the service was asked %s %v", r.URL, r.Header)
				}
			}
			if strings.Contains(log.String(), "ABF7A") {
				t.Errorf("the log shows digits of the password's hash: %s", log.String())
			}
		})
	}
}

func TestRangeAPIThatHangs(t *testing.T) {
	release := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	breached := password.RangeAPI(server.URL+"/", nil)
	if found, err := breached(t.Context(), "x"); found || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), server.URL) {
		t.Errorf("%t, %v", found, err)
	}
}

func FuzzWeakness(f *testing.F) {
	h := newHasher(f, password.Options{})
	for _, text := range []string{"", "password", "ada", "\xff", "e\u0301", "ﬁ", "1qaz2wsx"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, typed, about string) {
		code, err := h.Weakness(t.Context(), typed, []string{about})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Hash(t.Context(), typed); (err != nil) != (code == password.Long || code == password.Control) && code != password.Short {
			t.Errorf("%q is %q, and Hash says %v", typed, code, err)
		}
	})
}
