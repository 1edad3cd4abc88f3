package password

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	rangeURL     = "https://api.pwnedpasswords.com/range/"
	rangeTimeout = time.Second
	maxRange     = 1 << 20
)

// RangeAPI returns a function for [Options].Breached that asks the range API of Pwned
// Passwords. Only the first five hexadecimal digits of the password's SHA-1, appended to
// url, leave the program. The answer is padded, so that its length tells nothing. The
// function waits for one second at most. An empty url means the public service; a nil
// client means [http.DefaultClient]. Redirects are not followed.
func RangeAPI(url string, client *http.Client) func(ctx context.Context, password string) (bool, error) {
	if url == "" {
		url = rangeURL
	}
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context, password string) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, rangeTimeout)
		defer cancel()
		sum := sha1.Sum([]byte(password))
		digits := strings.ToUpper(hex.EncodeToString(sum[:]))
		return askRange(ctx, &own, url+digits[:5], digits[5:])
	}
}

// askRange asks url and reports whether its answer lists suffix, the digits of the SHA-1
// behind the first five. Its errors do not hold the URL.
func askRange(ctx context.Context, client *http.Client, url, suffix string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, errors.New("password: the URL of the range API is no URL")
	}
	req.Header.Set("Add-Padding", "true")
	resp, err := client.Do(req)
	if err != nil {
		return false, withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("password: the range API answers %d", resp.StatusCode)
	}
	return listed(io.LimitReader(resp.Body, maxRange), suffix)
}

// listed reports whether one of the lines "suffix:count" has the given suffix, with a count
// other than 0. It returns an error if body cannot be read or no line has this form.
func listed(body io.Reader, suffix string) (found bool, err error) {
	lines, known := bufio.NewScanner(body), 0
	for lines.Scan() {
		text, count, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		if !ok || len(text) != len(suffix) {
			continue
		}
		known++
		found = found || strings.EqualFold(text, suffix) && count != "0"
	}
	if err := lines.Err(); err != nil {
		return false, errors.New("password: the answer of the range API broke off")
	}
	if known == 0 {
		return false, errors.New("password: the answer of the range API has no lines of suffix and count")
	}
	return found, nil
}

// withoutURL returns the cause of an error of net/http. The URL holds the digits of a
// password.
func withoutURL(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Errorf("password: the range API does not answer: %w", err)
}
