package users

import (
	"context"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/storage"
)

// NewUser is a user whom an administrator creates.
type NewUser struct {
	Name  string // 1 to 256 characters; empty: unknown
	Email string // taken as unproven; empty: unknown
	Image string // an http(s) URL, never fetched; empty: none
}

// Change names what to change of a user. A nil field stays as it is.
type Change struct {
	Name     *string // empty: none
	Image    *string // empty: none
	Unverify bool    // the e-mail address counts as unproven; the next proof removes what was attached before
}

const (
	longestName  = 256  // characters
	longestImage = 2048 // bytes
)

// Create stores a user without any way in. The first sign-in that proves the e-mail
// address becomes this user: by a link, a code, or a provider that vouches for the
// address and is trusted to. A taken address is ErrConflict, and a field that makes no
// sense an [InputError].
func (u *Users) Create(ctx context.Context, n NewUser) (storage.User, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return storage.User{}, err
	}
	if err := checkName(n.Name); err != nil {
		return storage.User{}, err
	}
	if err := checkImage(n.Image); err != nil {
		return storage.User{}, err
	}
	if n.Email != "" {
		normal, err := mailbox.Normalize(n.Email)
		if err != nil || mailbox.Check(normal) != nil {
			return storage.User{}, wrong("Email", "it is no e-mail address")
		}
		n.Email = normal
	}
	defer w.Tell(ctx)
	return directory.Provision(ctx, w.Directory, w.Events, storage.User{Name: n.Name, Email: n.Email, Image: n.Image})
}

// Update changes fields of a user and returns the user. Callers that change different
// fields at once both succeed. JWT sessions show the change at the next sign-in or
// update. No call marks an e-mail address as proven.
func (u *Users) Update(ctx context.Context, userID string, c Change) (storage.User, error) {
	w, err := u.open(ctx, userID, "Users.Update")
	if err != nil {
		return storage.User{}, err
	}
	change := storage.UserChange{Name: c.Name, Image: c.Image}
	if c.Name != nil {
		err = checkName(*c.Name)
	}
	if err == nil && c.Image != nil {
		err = checkImage(*c.Image)
	}
	if err != nil {
		return storage.User{}, err
	}
	if c.Unverify {
		change.EmailVerified = new(time.Time{})
	}
	defer w.Tell(ctx)
	return directory.Change(ctx, w.Directory, w.Events, userID, change)
}

// Export writes everything that is kept of a user to out, as a JSON document with
// "version" 1. It has no token, hash or other secret, and names administrators by kind
// only. After an error the document is not whole.
func (u *Users) Export(ctx context.Context, userID string, out io.Writer) error {
	w, err := u.open(ctx, userID, "Users.Export")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.Export(ctx, w.Directory, w.Events, userID, out)
}

// Erase deletes a user as Delete does, and what is kept of the user beside: what waits
// for an answer, by id and by address. The instant that voids old sessions stays until
// the longest of them has expired, and so do keyed hashes of limits. Call it again if
// it failed. It needs an Adapter that is a [storage.UserDeletionAdapter].
func (u *Users) Erase(ctx context.Context, userID string) error {
	w, err := u.open(ctx, userID, "Users.Erase")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.Erase(ctx, w.Directory, w.Events, userID)
}

// checkName returns an InputError for a name that could deceive a reader.
func checkName(name string) error {
	switch {
	case !utf8.ValidString(name), strings.ContainsFunc(name, isUnfitForNames):
		return wrong("Name", "it has control characters, or characters that change the direction of writing")
	case utf8.RuneCountInString(name) > longestName:
		return wrong("Name", "it has more than 256 characters")
	case name != "" && strings.TrimSpace(name) == "":
		return wrong("Name", "it has nothing to show")
	}
	return nil
}

// isUnfitForNames reports control characters, ends of lines, and overrides and
// embeddings of direction (Unicode UAX 9).
func isUnfitForNames(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// checkImage returns an InputError for what is no URL of an image on the web.
func checkImage(image string) error {
	if image == "" {
		return nil
	}
	parsed, err := url.Parse(image)
	switch {
	case len(image) > longestImage:
		return wrong("Image", "it has more than 2,048 bytes")
	case err != nil, parsed.Scheme != "https" && parsed.Scheme != "http", parsed.Host == "", strings.ContainsFunc(image, isUnfitForNames):
		return wrong("Image", "it is no http(s) URL")
	case parsed.User != nil:
		return wrong("Image", "it names a user")
	}
	return nil
}
