package echoauth_test

import (
	"fmt"
	"html/template"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/labstack/echo/v5"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/echoauth"
	"github.com/latchkeyhq/latchkey/providers"
)

func config(siteURL string) latchkey.Config {
	return latchkey.Config{
		Site:      latchkey.Site{URL: siteURL},
		Secrets:   []string{"what openssl rand -base64 33 printed"},
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
	}
}

// ask is what a stranger's browser gets.
func ask(site http.Handler, url string) {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	fmt.Println(r.URL.Path, w.Code, w.Header().Get("Location")+w.Body.String())
}

func Example() {
	auth, err := latchkey.New(config("https://app.example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions := echoauth.New(auth)
	e := echo.New()
	sessions.Mount(e)

	e.GET("/", func(c *echo.Context) error { return c.String(http.StatusOK, "for everybody") })
	members := e.Group("/members", sessions.RequireSession())
	members.GET("", func(c *echo.Context) error {
		s, err := sessions.Session(c)
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, "Hello, "+s.User.Name)
	})
	ask(e, "https://app.example/")
	ask(e, "https://app.example/members")
	ask(e, "https://app.example/auth/session")
	// Output:
	// / 200 for everybody
	// /members 302 https://app.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fmembers
	// /auth/session 200 null
}

func ExampleAuth_UI() {
	auth, err := latchkey.New(config("https://app.example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions := echoauth.New(auth)
	e := echo.New()
	e.Renderer = &echo.TemplateRenderer{
		Template: template.Must(template.New("home").Parse(`{{with .UI.Session}}Hello, {{.User.Name}}{{else}}{{$.UI.SignIn "github" "submitButton" "Come in"}}{{end}}`)),
	}
	sessions.Mount(e)
	e.GET("/", func(c *echo.Context) error {
		page, err := sessions.UI(c)
		if err != nil {
			return err
		}
		return c.Render(http.StatusOK, "home", map[string]any{"UI": page})
	})

	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example/", nil))
	fmt.Println(strings.Contains(w.Body.String(), `action="https://app.example/auth/signin/github"`), strings.Contains(w.Body.String(), "Come in"))
	// Output: true true
}

func ExampleNewFunc() {
	shops := map[string]*latchkey.Config{}
	for _, name := range []string{"acme", "globex"} {
		c := config("https://shops.example")
		c.Site.BasePath = "/" + name + "/auth"
		shops[name] = &c
	}
	sessions, err := echoauth.NewFunc(echoauth.Func{Config: func(c *echo.Context) (*latchkey.Config, error) {
		if shop := shops[c.Param("shop")]; shop != nil {
			return shop, nil
		}
		return nil, fmt.Errorf("no shop is called %q: %w", c.Param("shop"), latchkey.ErrNotFound)
	}})
	if err != nil {
		log.Fatal(err)
	}
	e := echo.New()
	sessions.Mount(e.Group("/:shop/auth"), "/:shop/auth")
	e.GET("/:shop/orders", func(c *echo.Context) error { return c.String(http.StatusOK, "your orders") }, sessions.RequireSession())

	ask(e, "https://shops.example/acme/orders")
	ask(e, "https://shops.example/globex/auth/session")
	// Output:
	// /acme/orders 302 https://shops.example/acme/auth/signin?callbackUrl=https%3A%2F%2Fshops.example%2Facme%2Forders
	// /globex/auth/session 200 null
}
