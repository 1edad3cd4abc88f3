package latchkey_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/frame"
)

// A page of the application's own in the built-in style, with a form that is checked.
func ExampleAuth_WritePage() {
	auth := exampleAuth()
	site := http.NewServeMux()
	site.HandleFunc("GET /newsletter", func(w http.ResponseWriter, r *http.Request) {
		err := auth.WritePage(w, r, frame.Page{
			Heading: "Newsletter",
			Parts:   []frame.Part{{Forms: []frame.Form{{Action: "/newsletter", Submit: "Subscribe"}}}},
		})
		if err != nil {
			auth.WriteError(w, r, err)
		}
	})
	site.HandleFunc("POST /newsletter", func(w http.ResponseWriter, r *http.Request) {
		if auth.CheckCSRF(r) != nil {
			http.Error(w, "Another site has sent this.", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "Subscribed.")
	})

	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest("GET", "https://app.example/newsletter", nil))
	fmt.Println(w.Code, strings.Contains(w.Body.String(), `name="csrfToken"`))
	w = httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest("POST", "https://app.example/newsletter", nil))
	fmt.Println(w.Code)
	// Output:
	// 200 true
	// 403
}

// Users change their name on the account page, see what happened lately, and download
// what is kept of them.
func ExampleAccountPage() {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{&latchkey.Email{Send: func(_ context.Context, m latchkey.Message) error { return nil }}},
		Adapter:   memoryadapter.New(memoryadapter.Options{}), Secrets: []string{"a secret of at least thirty-two bytes"}, Site: latchkey.Site{URL: "https://app.example"},
		AccountPage: latchkey.AccountPage{Enabled: true, Edit: latchkey.EditName | latchkey.EditImage, Activity: true, Export: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest("GET", "https://app.example/auth/account?do=profile", nil))
	fmt.Println(w.Code, strings.HasPrefix(w.Header().Get("Location"), "https://app.example/auth/signin"))
	// Output: 302 true
}
