package ginauth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
)

// A configuration by Gin's own request is asked for once a request, at once, and a
// fault of it is no panic.
func TestNewFunc(t *testing.T) {
	a, b, asked := config("https://a.example"), config("https://b.example"), 0
	sessions, err := ginauth.NewFunc(ginauth.Func{Config: func(c *gin.Context) (*latchkey.Config, error) {
		asked++
		switch c.GetHeader("X-Shop") {
		case "a":
			return &a, nil
		case "b":
			return &b, nil
		case "panic":
			panic("which one?")
		}
		return nil, errors.New("no such shop")
	}})
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	site := gin.New()
	site.GET("/where", sessions.LoadSession(), func(c *gin.Context) {
		c.Request.Header.Set("X-Shop", "a") // the request of somebody else by now
		u, err := sessions.ActionURL(c, "signin")
		if errors.Is(err, latchkey.ErrInvalidConfig) {
			c.String(http.StatusTeapot, "no shop")
			return
		}
		c.String(http.StatusOK, u.String())
	})
	get := func(shop string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, "/where", nil), httptest.NewRecorder()
		r.Header.Set("X-Shop", shop)
		site.ServeHTTP(w, r)
		return w
	}
	if w := get("b"); w.Body.String() != "https://b.example/auth/signin" || asked != 1 {
		t.Errorf("R-451: %d %s, asked %d times", w.Code, w.Body, asked)
	}
	for _, shop := range []string{"panic", "none"} {
		if w := get(shop); w.Code != http.StatusTeapot {
			t.Errorf("R-242: %s: %d %s", shop, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/where", nil)
	if _, err := sessions.Auth().ActionURL(r, "signin"); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without a request of Gin: %v", err)
	}
	if sessions, err := ginauth.NewFunc(ginauth.Func{}); sessions != nil || !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without a function: %v, %v", sessions, err)
	}
}
