package latchkey

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/directory"
)

// sendCode answers POST /factor?do=send.
func sendCode(ctx context.Context, x *exchange, handle string, p *directory.Pending) (*Response, error) {
	return notPending(ctx, x)
}

// maskedName returns a name of which others learn little: an e-mail address keeps the
// first letter and its domain.
func maskedName(name string) string {
	local, domain, isAddress := strings.Cut(name, "@")
	if !isAddress || local == "" {
		return name
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "•••@" + domain
}
