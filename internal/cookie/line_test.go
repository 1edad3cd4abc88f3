package cookie_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
)

func TestLineAgreesWithNetHTTP(t *testing.T) {
	for _, c := range []http.Cookie{
		{},
		{Name: "a"},
		{Name: "a", Value: "eyJ.b-_~%7C|=="},
		{Name: "a", Value: "with space"},
		{Name: "a", Value: "a,b"},
		{Name: "a", Value: `q"uote\`},
		{Name: "a", Value: "semi;colon"},
		{Name: "a", Value: "line\r\nbreak"},
		{Name: "a", Value: "ünicode"},
		{Name: "a", Value: "q", Quoted: true},
		{Name: "not a token", Value: "x"},
		{Name: "a=b", Value: "x"},
		{
			Name: "a", Value: "x", Path: "/p", Domain: ".site.example", Expires: time.Unix(1e9, 0), MaxAge: 5, Secure: true, HttpOnly: true,
			SameSite: http.SameSiteStrictMode, Partitioned: true,
		},
		{Name: "a", Value: "x", MaxAge: -1, Path: "/ \x00;p", Domain: "no domain"},
		{Name: "a", Value: "x", MaxAge: -1, Path: "/", SameSite: http.SameSiteLaxMode},
		{Name: "a", Value: "x", MaxAge: 900, Path: "/", Expires: time.Unix(1e9, 0), Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode},
		{Name: "a", Value: "x", MaxAge: math.MaxInt, Path: "/", SameSite: http.SameSiteLaxMode},
	} {
		if got, want := cookie.Line(&c), c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("name", "value", "/")
	f.Add("", "a=b", "=")
	f.Fuzz(func(t *testing.T, name, value, path string) {
		c := http.Cookie{Name: name, Value: value, Path: path}
		if got, want := cookie.Line(&c), c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
