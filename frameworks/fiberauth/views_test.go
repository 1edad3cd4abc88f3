package fiberauth_test

import (
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
)

// views is html/template as Fiber's renderer.
type views struct{ *template.Template }

func (views) Load() error { return nil }

func (v views) Render(w io.Writer, name string, data any, _ ...string) error {
	return v.ExecuteTemplate(w, name, data)
}

func TestUI(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New(fiber.Config{Views: views{template.Must(template.New("login").Parse(`{{.UI.SignInBox}}{{with .UI.Session}}here is {{.User.Name}}{{end}}`))}})
	auth.Mount(app)
	app.Get("/login", func(c fiber.Ctx) error {
		page, err := auth.UI(c)
		if err != nil {
			return err
		}
		return c.Render("login", fiber.Map{"UI": page})
	})
	app.Get("/bound", auth.BindUI(), func(c fiber.Ctx) error { return c.Render("login", fiber.Map{}) })
	siteURL := serve(t, app)
	for _, path := range []string{"/login", "/bound"} {
		p := openAs(t, siteURL, "").Get(path)
		says(t, p, http.StatusOK, `action="`+siteURL+`/auth/callback/credentials"`)
		if lines := p.Header.Values("Set-Cookie"); len(lines) != 1 || !strings.Contains(lines[0], "csrf-token") {
			t.Errorf("%s sets %q", path, lines)
		}
		says(t, openAs(t, siteURL, "Ada").Get(path), http.StatusOK, "here is Ada")
	}
}

// Handlers that return what a guard would say are answered as by a guard, and
// every other error is the application's.
func TestErrorHandler(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New(fiber.Config{ErrorHandler: auth.ErrorHandler(func(c fiber.Ctx, err error) error {
		s, _ := auth.Session(c)
		name := "nobody"
		if s != nil {
			name = s.User.Name
		}
		return c.Status(http.StatusTeapot).SendString(err.Error() + " for " + name)
	})})
	app.Use(recover.New())
	auth.Mount(app)
	for path, err := range map[string]error{
		"/none": latchkey.ErrNoSession, "/denied": latchkey.ErrAccessDenied, "/other": latchkey.RedirectTo("/login"),
		"/own": latchkey.RespondWith(&latchkey.Response{Status: http.StatusGone}), "/broken": errors.New("broken"),
	} {
		app.Get(path, func(fiber.Ctx) error { return err })
	}
	app.Get("/panic", func(fiber.Ctx) error { panic("broken") })
	siteURL := serve(t, app)
	nobody, ada := openAs(t, siteURL, ""), openAs(t, siteURL, "Ada")
	leads(t, nobody.Get("/none"), siteURL+"/auth/signin")
	says(t, nobody.Fetch("GET", "/none", nil, nil), http.StatusUnauthorized, "")
	leads(t, nobody.Get("/denied"), siteURL+"/auth/signin")
	says(t, ada.Get("/denied"), http.StatusForbidden, "")
	leads(t, ada.Get("/other"), siteURL+"/login")
	says(t, ada.Get("/own"), http.StatusGone, "")
	says(t, ada.Get("/broken"), http.StatusTeapot, "broken for Ada")
	says(t, nobody.Get("/panic"), http.StatusTeapot, "broken for nobody")
	says(t, nobody.Get("/nothing"), http.StatusTeapot, "for nobody")
}

func TestDefaultErrorHandler(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New(fiber.Config{ErrorHandler: auth.ErrorHandler(nil)})
	siteURL := serve(t, app)
	says(t, openAs(t, siteURL, "").Get("/nothing"), http.StatusNotFound, "Not Found")
}

func TestWellKnown(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.Get("/.well-known/webauthn", auth.RelatedOrigins())
	app.Get("/.well-known/passkey-endpoints", auth.PasskeyEndpoints("/keys"))
	siteURL := serve(t, app)
	for _, path := range []string{"/.well-known/webauthn", "/.well-known/passkey-endpoints"} {
		for host, status := range map[string]int{"": http.StatusNotFound, "evil.example": http.StatusInternalServerError} { // there are no passkeys
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, siteURL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if _ = res.Body.Close(); res.StatusCode != status {
				t.Errorf("%s at %q: status %d, want %d", path, host, res.StatusCode, status)
			}
		}
	}
}

func TestActionsArePosted(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.All("/enter", auth.SignInAction(nil))
	if p := openAs(t, serve(t, app), "").Get("/enter"); p.Status != http.StatusMethodNotAllowed || p.Header.Get("Allow") != http.MethodPost {
		t.Errorf("status %d, %v", p.Status, p.Header)
	}
}

// A configuration by Fiber's own request is asked for once a request, and a fault
// of it is no panic.
func TestNewFunc(t *testing.T) {
	asked := 0
	config := site()
	auth, err := fiberauth.NewFunc(fiberauth.Func{CacheSize: 8, Config: func(c fiber.Ctx) (*latchkey.Config, error) {
		asked++
		if c.Get("X-Tenant") == "" {
			panic("which one?")
		}
		return config, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fiberauth.NewFunc(fiberauth.Func{}); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without a function: %v", err)
	}
	r := httptest.NewRequest(http.MethodGet, "/who", nil)
	if _, err := auth.Auth().ActionURL(r, "signin"); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without a request of Fiber: %v", err)
	}
	app := fiber.New()
	app.Use(auth.Middleware())
	app.Get("/who", auth.LoadSession(), who(auth))
	siteURL := serve(t, app)
	if res := ask(t, nil, http.MethodGet, siteURL+"/who", http.Header{"X-Tenant": {"a"}}, ""); res.StatusCode != http.StatusOK || asked != 1 {
		t.Errorf("status %d, asked %d times", res.StatusCode, asked)
	}
	if res := ask(t, nil, http.MethodGet, siteURL+"/auth/session", nil, ""); res.StatusCode != http.StatusInternalServerError {
		t.Errorf("R-242: status %d", res.StatusCode)
	}
}
