package main

import (
	"os"
	"testing"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestShots(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		t.Skip()
	}
	os.MkdirAll(dir, 0o755)
	browser := startChromium(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 1100} {
			b := openTab(t, browser, serve(t, newTestSite(t, environment(t))))
			b.do("w", chromedp.EmulateViewport(width, 800))
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			shot := func(name string) {
				img, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				w := "wide"
				if width == 320 {
					w = "narrow"
				}
				os.WriteFile(dir+"/"+name+"-"+scheme+"-"+w+".png", img, 0o644)
			}
			for name, path := range map[string]string{"home": "/", "mailbox-empty": "/mailbox", "notfound": "/nowhere", "signin": "/auth/signin?callbackUrl=/profile", "signin-error": "/auth/signin?error=CredentialsSignin", "verify": "/auth/verify-request", "error": "/auth/error?error=AccessDenied"} {
				b.open(path)
				shot(name)
			}
			askForLink(t, latchkeytest.NewClientAt(t, b.origin), "someone@example.com")
			askForLink(t, latchkeytest.NewClientAt(t, b.origin), strings.Repeat("long.", 10)+"address@example.com")
			b.open("/mailbox")
			shot("mailbox")
			b.open("/auth/signin")
			b.click(demoButton)
			b.becomes("document.querySelector('button[data-subject]') !== null")
			shot("issuer")
			b.click(`button[data-subject="ada"]`)
			b.arrives("/")
			for name, path := range map[string]string{"home-in": "/", "members": "/members", "profile": "/profile", "account": "/auth/account", "delete": "/auth/account?do=delete", "signout": "/auth/signout"} {
				b.open(path)
				shot(name)
			}
		}
	}
}
