package providers_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

// The keys come from AUTH_GITHUB_ID and AUTH_GITHUB_SECRET, the secret for
// sessions from AUTH_SECRET, the URL of the site from AUTH_URL.
func Example() {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{
			providers.GitHub(latchkey.OAuth{}),
			providers.Google(latchkey.OAuth{}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/auth/", auth)
}

// Only accounts of one organization may enter. The parameter hd merely makes
// Google offer them first; the claim decides.
func ExampleGoogle() {
	_ = latchkey.Config{
		Providers: []latchkey.Provider{providers.Google(latchkey.OAuth{
			Authorization: latchkey.Endpoint{Params: url.Values{"hd": {"example.com"}}},
		})},
		Callbacks: latchkey.Callbacks{SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
			if a.Account.Provider == "google" && a.Profile.String("hd") != "example.com" {
				return latchkey.ErrAccessDenied
			}
			return nil
		}},
	}
}

func ExampleGitHubEnterprise() {
	p := providers.GitHubEnterprise("https://git.example.com", latchkey.OAuth{ID: "work", Name: "Work"})
	fmt.Println(p.UserInfo.URL)
	// Output: https://git.example.com/api/v3/user
}

// One tenant, and the picture of each person.
func ExampleMicrosoftEntraID() {
	p := providers.MicrosoftEntraID(latchkey.OAuth{
		Issuer:       "https://login.microsoftonline.com/b9419818-09af-49c2-b0c3-653adc1f376e/v2.0",
		FetchProfile: providers.EntraPhoto(48),
	})
	fmt.Println(p.ID)
	// Output: microsoft-entra-id
}

func ExampleNewAppleSecret() {
	key, err := os.ReadFile("AuthKey_KEY0000001.p8")
	if errors.Is(err, os.ErrNotExist) {
		return // the key of your own account
	}
	secret, err := providers.NewAppleSecret(providers.AppleKey{
		TeamID: "TEAM000001", KeyID: "KEY0000001", ClientID: "com.example.web", PEM: string(key),
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = providers.Apple(latchkey.OAuth{ClientID: "com.example.web", NewClientSecret: secret})
}

func ExampleTikTokFields() {
	p := providers.TikTok(latchkey.OAuth{
		Scopes:   []string{"user.info.profile", "user.info.stats"},
		UserInfo: providers.TikTokFields(providers.TikTokDisplayName, providers.TikTokFollowerCount),
	})
	fmt.Println(p.UserInfo.Params.Get("fields"))
	// Output: open_id,display_name,follower_count
}

func ExampleYandexAvatarURL() {
	fmt.Println(providers.YandexAvatarURL("131652443/enc-0a1b", providers.YandexAvatarRetina50))
	fmt.Println(providers.YandexAvatarRetina50.Pixels())
	// Output:
	// https://avatars.yandex.net/get-yapic/131652443/enc-0a1b/islands-retina-50
	// 100
}
