package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// mailbox keeps mails instead of sending them, each in a file whose name begins
// with the time. Demos with the same data folder share it.
type mailbox struct{ dir string }

// letter is a mail as the mailbox page shows it.
type letter struct {
	ID          string // of its file; the HTML is shown in a frame of its own
	To, Subject string
	Sent        time.Time
	Text, HTML  string // an empty HTML: the mail has none
}

const (
	stamp       = "20060102T150405.000000000" // sorts by time
	lettersKept = 24 * time.Hour              // when the links in them are long dead
	lettersSeen = 20
	suffix      = ".eml"
)

func newMailbox(dir string) (mailbox, error) {
	return mailbox{dir}, os.MkdirAll(dir, 0o700)
}

// send is what an Email provider delivers links with: the mail that package mail
// would send.
func (m mailbox) send(_ context.Context, message latchkey.Message) error {
	words, err := mailtext.Compose(message)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	raw, err := compose(message.To, words, now)
	if err != nil {
		return err
	}
	name := filepath.Join(m.dir, now.Format(stamp)+"-"+rand.Text())
	if err := os.WriteFile(name+".part", raw, 0o600); err != nil {
		return err
	}
	m.tidy(now)
	return os.Rename(name+".part", name+suffix) // so that no reader gets half of it
}

// letters returns the newest mails, at most lettersSeen, the newest first.
func (m mailbox) letters() ([]letter, error) {
	names, err := filepath.Glob(filepath.Join(m.dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	slices.Reverse(names)
	var list []letter
	for _, name := range names[:min(len(names), lettersSeen)] {
		l, err := readLetter(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another demo has just tidied up
		}
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// letter returns the mail with an ID, if it is one of letters, and whether there is one.
func (m mailbox) letter(id string) (letter, bool, error) {
	all, err := m.letters()
	if i := slices.IndexFunc(all, func(l letter) bool { return l.ID == id }); i >= 0 {
		return all[i], true, err
	}
	return letter{}, false, err
}

// tidy removes the files that are older than lettersKept. A file it cannot remove stays.
func (m mailbox) tidy(now time.Time) {
	oldest := now.Add(-lettersKept).Format(stamp)
	files, _ := os.ReadDir(m.dir)
	for _, f := range files {
		if f.Name() < oldest {
			_ = os.Remove(filepath.Join(m.dir, f.Name()))
		}
	}
}
