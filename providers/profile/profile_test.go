package profile_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

func TestR317StandardClaims(t *testing.T) {
	yes := true
	for text, want := range map[string]profile.OpenID{
		`{"sub":"ada"}`: {IDToken: profile.IDToken{Subject: "ada"}},
		`{"sub":"ada","email_verified":null,"address":null,"name":null,"updated_at":null}`: {IDToken: profile.IDToken{Subject: "ada"}},
		`{"sub":"ada","email_verified":true,"zoneinfo":"Europe/Paris","address":{"locality":"London","country":null}}`: {
			IDToken: profile.IDToken{Subject: "ada"}, EmailVerified: &yes, Zoneinfo: "Europe/Paris", Address: &profile.Address{Locality: "London"},
		},
		`{"id":"7","picture":{"data":{"url":"u"}},"updated_at":"2026-01-01"}`: {ID: "7", Picture: map[string]any{"data": map[string]any{"url": "u"}}, UpdatedAt: "2026-01-01"},
	} {
		t.Run("R-317 "+text, func(t *testing.T) {
			var claims latchkey.Claims
			if err := json.Unmarshal([]byte(text), &claims); err != nil {
				t.Fatal(err)
			}
			got, err := latchkey.Decode[profile.OpenID](claims)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		})
	}
}

// A callback looks at claims by name, without type assertions.
func ExampleOpenID() {
	claims := latchkey.Claims{"sub": "ada", "address": map[string]any{"locality": "London"}}
	who, err := latchkey.Decode[profile.OpenID](claims)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(who.Subject, who.Address.Locality, who.EmailVerified == nil)
	// Output: ada London true
}

// A profile type gives shape to what a callback is handed.
func ExampleGitHub() {
	attempt := latchkey.SignInAttempt{Profile: latchkey.Claims{"id": 583231, "login": "octocat", "public_repos": 8}}
	who, err := latchkey.Decode[profile.GitHub](attempt.Profile)
	fmt.Println(who.Login, who.PublicRepos, err)
	// Output: octocat 8 <nil>
}
