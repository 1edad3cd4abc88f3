package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// mailbox keeps mails instead of sending them, each in a file whose name begins
// with the time. Demos with the same data folder share it.
type mailbox struct{ dir string }

// letter is a mail as the mailbox page shows it.
type letter struct {
	To, Subject         string
	Sent                time.Time
	Before, Link, After string // the body; an empty Link: none was found
}

const (
	stamp       = "20060102T150405.000000000" // sorts by time
	lettersKept = 24 * time.Hour              // when the links in them are long dead
	lettersSeen = 20
)

func newMailbox(dir string) (mailbox, error) {
	return mailbox{dir}, os.MkdirAll(dir, 0o700)
}

// send is what an Email provider delivers links with.
func (m mailbox) send(_ context.Context, l latchkey.SignInLink) error {
	site, err := url.Parse(l.URL)
	if err != nil {
		return errors.New("the link is no URL") // the cause would repeat the link
	}
	now := time.Now().UTC()
	text := fmt.Sprintf("To: %s\nSubject: Sign in to %s\nDate: %s\n\n"+
		"Open this link to sign in as %s:\n\n%s\n\nIt works once, until %s. If you did not ask for it, do nothing.\n",
		l.To, site.Host, now.Format(time.RFC1123Z), l.To, l.URL, l.Expires.UTC().Format("15:04 MST on 2 January"))
	name := filepath.Join(m.dir, now.Format(stamp)+"-"+rand.Text())
	if err := os.WriteFile(name+".part", []byte(text), 0o600); err != nil {
		return err
	}
	m.tidy(now)
	return os.Rename(name+".part", name+".eml") // so that nobody reads half of it
}

// letters returns the newest mails, newest first.
func (m mailbox) letters() ([]letter, error) {
	names, err := filepath.Glob(filepath.Join(m.dir, "*.eml"))
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

func readLetter(name string) (letter, error) {
	f, err := os.Open(name)
	if err != nil {
		return letter{}, err
	}
	defer func() { _ = f.Close() }()
	message, err := mail.ReadMessage(f)
	if err != nil {
		return letter{}, err
	}
	body, err := io.ReadAll(message.Body)
	if err != nil {
		return letter{}, err
	}
	l := letter{To: message.Header.Get("To"), Subject: message.Header.Get("Subject"), Before: string(body)}
	l.Sent, _ = message.Header.Date()
	for word := range strings.FieldsSeq(l.Before) {
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			l.Link = word
			l.Before, l.After, _ = strings.Cut(l.Before, word)
			break
		}
	}
	return l, nil
}

// tidy removes what is of no use any more. A file it cannot remove stays.
func (m mailbox) tidy(now time.Time) {
	oldest := now.Add(-lettersKept).Format(stamp)
	files, _ := os.ReadDir(m.dir)
	for _, f := range files {
		if f.Name() < oldest {
			_ = os.Remove(filepath.Join(m.dir, f.Name()))
		}
	}
}
