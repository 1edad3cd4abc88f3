package ginauth_test

import (
	"fmt"
	"html/template"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
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
	sessions := ginauth.New(auth)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	sessions.Mount(router)

	router.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "for everybody") })
	members := router.Group("/members", sessions.RequireSession())
	members.GET("/", func(c *gin.Context) {
		s, err := sessions.Session(c)
		if err != nil {
			_ = c.AbortWithError(http.StatusInternalServerError, err)
			return
		}
		c.String(http.StatusOK, "Hello, %s", s.User.Name)
	})
	ask(router, "https://app.example/")
	ask(router, "https://app.example/members/")
	ask(router, "https://app.example/auth/session")
	// Output:
	// / 200 for everybody
	// /members/ 302 https://app.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fmembers%2F
	// /auth/session 200 null
}

func ExampleAuth_UI() {
	auth, err := latchkey.New(config("https://app.example"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions := ginauth.New(auth)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.SetHTMLTemplate(template.Must(template.New("home").Parse(`{{with .UI.Session}}Hello, {{.User.Name}}{{else}}{{$.UI.SignIn "github" "submitButton" "Come in"}}{{end}}`)))
	sessions.Mount(router)
	router.GET("/", func(c *gin.Context) {
		page, err := sessions.UI(c)
		if err != nil {
			_ = c.AbortWithError(http.StatusInternalServerError, err)
			return
		}
		c.HTML(http.StatusOK, "home", gin.H{"UI": page})
	})

	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example/", nil))
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
	sessions, err := ginauth.NewFunc(ginauth.Func{Config: func(c *gin.Context) (*latchkey.Config, error) {
		if shop := shops[c.Param("shop")]; shop != nil {
			return shop, nil
		}
		return nil, fmt.Errorf("no shop is called %q: %w", c.Param("shop"), latchkey.ErrNotFound)
	}})
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	sessions.Mount(router.Group("/:shop/auth"))
	router.GET("/:shop/orders", sessions.RequireSession(), func(c *gin.Context) { c.String(http.StatusOK, "your orders") })

	ask(router, "https://shops.example/acme/orders")
	ask(router, "https://shops.example/globex/auth/session")
	// Output:
	// /acme/orders 302 https://shops.example/acme/auth/signin?callbackUrl=https%3A%2F%2Fshops.example%2Facme%2Forders
	// /globex/auth/session 200 null
}
