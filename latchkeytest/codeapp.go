package latchkeytest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// CodeApp is an authenticator app of a user in a test: it shows codes of six digits that
// change every 30 seconds (RFC 6238). Get one with [NewCodeApp]. It is safe for
// concurrent use.
type CodeApp struct {
	hidden

	Issuer  string // the name of the site
	Account string // the name of the user there
	secret  []byte
}

// NewCodeApp returns the app after it has scanned the key URI of a site, which begins with
// otpauth://totp/. It returns an error for a URI that common apps would refuse, or would
// show other codes for: another algorithm, number of digits or period, or a label of
// another issuer.
func NewCodeApp(uri string) (*CodeApp, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" {
		return nil, errors.New("latchkeytest: not a key URI of time-based codes")
	}
	q := u.Query()
	for name, want := range map[string]string{"algorithm": "SHA1", "digits": "6", "period": "30"} {
		if got := q.Get(name); got != "" && got != want {
			return nil, fmt.Errorf("latchkeytest: %s is %q, common apps know %s", name, got, want)
		}
	}
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(q.Get("secret"))
	if err != nil || len(secret) == 0 {
		return nil, errors.New("latchkeytest: the secret is no base32 without padding")
	}
	a := &CodeApp{Issuer: q.Get("issuer"), secret: secret}
	label := strings.TrimPrefix(u.Path, "/")
	before, account, named := strings.Cut(label, ":")
	if !named {
		before, account = a.Issuer, label
	}
	if a.Account = strings.TrimSpace(account); before != a.Issuer || strings.Contains(account, ":") {
		return nil, fmt.Errorf("latchkeytest: the label %q is not of the issuer %q", label, a.Issuer)
	}
	return a, nil
}

// Code returns the code that the app shows at an instant.
func (a *CodeApp) Code(at time.Time) string {
	mac := hmac.New(sha1.New, a.secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30)))
	sum := mac.Sum(nil)
	digits := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&0xf:]) & 0x7fffffff // RFC 4226, section 5.3
	return fmt.Sprintf("%06d", digits%1_000_000)
}
