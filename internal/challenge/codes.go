package challenge

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fold"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Codes of mails are a second way to give the proof that a link of the same mail
// gives. A code belongs to the browser that holds its handle.

const (
	// CodeLife is how long a code lives, whatever its link does.
	CodeLife = 10 * time.Minute
	// CodeTries is how many codes are compared.
	CodeTries = 5
)

// ErrWrongCode reports a code that does not fit.
var ErrWrongCode = errors.New("the code does not fit")

// MailCode is what a code from a mail stands for.
type MailCode struct {
	For         string // what takes the proof: the id of an Email provider, or a purpose
	Identifier  string // the address that the mail goes to
	UserID      string // the user it is about; empty: none
	Link        string // the secret of the link, or its hash; empty: the code stands for nothing
	CallbackURL string // where the browser goes in the end
}

// codeData is the sealed data of a code.
type codeData struct {
	For         string `json:"for"`
	Link        string `json:"link,omitempty"`
	Code        string `json:"code,omitempty"`
	CallbackURL string `json:"callbackUrl,omitempty"`
}

// CreateCode stores a random code of digits digits for c. It returns the handle of the
// challenge, for the browser, and the code, for the mail. The code lives for CodeLife. If
// c has no Link, the stored row is a decoy: no code is right for it, not even the one
// that is returned, and the browser cannot tell it from a real one. An error is that of
// the store, or of the source of random numbers.
func (r *Rows) CreateCode(ctx context.Context, c MailCode, digits int) (handle, code string, err error) {
	code, err = newCode(digits)
	if err != nil {
		return "", "", err
	}
	data := codeData{For: c.For, Link: c.Link, Code: code, CallbackURL: c.CallbackURL}
	if c.Link == "" {
		data.Code = ""
	}
	handle, err = r.Create(ctx, Draft{Purpose: Code, UserID: c.UserID, Identifier: c.Identifier, Data: data, Life: CodeLife})
	return handle, code, err
}

// TryCode counts one try at the code with a handle. It returns what the code stands for,
// and check. purpose must be the For of the MailCode. It returns storage.ErrNotFound if
// the handle names no live code, or a code of another purpose, which loses a try as well.
// After CodeTries tries it removes the code and returns [ErrSpent]. check compares typed
// text with the code, apart from spaces and hyphens, and returns nil or ErrWrongCode. It
// counts no try, so that the caller may count one elsewhere before. A right code stays:
// the caller removes it by End with the purpose Code.
func (r *Rows) TryCode(ctx context.Context, handle, purpose string) (MailCode, func(typed string) error, error) {
	row, err := r.Try(ctx, Code, handle, CodeTries)
	if err != nil {
		return MailCode{}, nil, err
	}
	var data codeData
	if err := row.Read(&data); err != nil {
		return MailCode{}, nil, err
	}
	if data.For != purpose {
		return MailCode{}, nil, storage.ErrNotFound
	}
	c := MailCode{For: data.For, Identifier: row.Identifier, UserID: row.UserID, Link: data.Link, CallbackURL: data.CallbackURL}
	return c, func(typed string) error {
		if typed = fold.Code(typed); data.Code == "" || !secret.Equal(typed, data.Code) {
			return ErrWrongCode
		}
		return nil
	}, nil
}

// newCode returns a random code of that many decimal digits. An error is that of the
// source of random numbers.
func newCode(digits int) (string, error) {
	var b strings.Builder
	for range digits {
		n, err := rand.Int(rand.Reader, big.NewInt(10))
		if err != nil {
			return "", err
		}
		b.WriteByte(byte('0' + n.Int64()))
	}
	return b.String(), nil
}
