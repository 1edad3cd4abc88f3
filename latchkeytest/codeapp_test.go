package latchkeytest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestCodeApp: F-021, the rows of RFC 6238 appendix B for SHA-1, cut to six digits.
func TestCodeApp(t *testing.T) {
	app, err := latchkeytest.NewCodeApp("otpauth://totp/Acme%20Corp:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20Corp&algorithm=SHA1&digits=6&period=30")
	if err != nil {
		t.Fatal(err)
	}
	if app.Issuer != "Acme Corp" || app.Account != "ada@example.com" {
		t.Errorf("issuer %q, account %q", app.Issuer, app.Account)
	}
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if got := app.Code(time.Unix(at, 0)); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
	}
	if text := fmt.Sprintf("%v %+v", app, *app); text != "[redacted] [redacted]" {
		t.Errorf("the app prints %s", text)
	}
}

// TestCodeAppReadsOurURIs: F-031, what the library writes is read as it was meant.
func TestCodeAppReadsOurURIs(t *testing.T) {
	secret := []byte("12345678901234567890")
	for _, name := range [][2]string{{"Acme", "ada@example.com"}, {"", "ada"}, {"A & B + C%", "Zoë 👩 Ada"}, {"Acme: Inc", "a:b"}} {
		app, err := latchkeytest.NewCodeApp(otp.URI(name[0], name[1], secret))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		at := time.Unix(1_800_000_000, 0)
		if _, ok := otp.Check(secret, app.Code(at), at, 0); !ok {
			t.Errorf("%q: the code of the app does not fit", name)
		}
	}
}

func TestCodeAppRefuses(t *testing.T) {
	for name, uri := range map[string]string{
		"counted codes":     "otpauth://hotp/Acme:ada?secret=GEZDGNBV&issuer=Acme",
		"another scheme":    "https://totp/Acme:ada?secret=GEZDGNBV&issuer=Acme",
		"another algorithm": "otpauth://totp/Acme:ada?secret=GEZDGNBV&issuer=Acme&algorithm=SHA256",
		"eight digits":      "otpauth://totp/Acme:ada?secret=GEZDGNBV&issuer=Acme&digits=8",
		"another period":    "otpauth://totp/Acme:ada?secret=GEZDGNBV&issuer=Acme&period=60",
		"no secret":         "otpauth://totp/Acme:ada?issuer=Acme",
		"a padded secret":   "otpauth://totp/Acme:ada?secret=GEZDGN%3D%3D&issuer=Acme",
		"another issuer":    "otpauth://totp/Other:ada?secret=GEZDGNBV&issuer=Acme",
		"a colon too many":  "otpauth://totp/Acme:a:b?secret=GEZDGNBV&issuer=Acme",
	} {
		if _, err := latchkeytest.NewCodeApp(uri); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A user enrols an authenticator app and types its code.
func ExampleCodeApp() {
	app, err := latchkeytest.NewCodeApp("otpauth://totp/Acme:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(app.Code(time.Unix(59, 0)))
	// Output: 287082
}
