package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// settings is what the environment says.
type settings struct {
	port     string           // empty: any from firstPort on
	data     string           // folder of the database, the secret and the mails
	issuer   string           // empty: the demo starts one
	url      string           // of the site, for mails that no request asks for; empty: not known, or AUTH_URL says it
	now      func() time.Time // nil: the clock of the machine
	strategy latchkey.Strategy
	secrets  []string
	github   bool // is set up
	google   bool
	log      *slog.Logger
}

// readSettings returns the settings in the environment. It makes the data folder, and a
// secret in it if the environment has none. An unknown SESSION_STRATEGY is an error.
func readSettings(getenv func(string) string) (settings, error) {
	s := settings{
		port:     getenv("PORT"),
		data:     getenv("DEMO_DATA"),
		issuer:   getenv("AUTH_DEMO_ISSUER"),
		strategy: latchkey.Strategy(getenv("SESSION_STRATEGY")),
		secrets:  latchkey.Config{}.WithEnv(getenv).Secrets,
		github:   getenv("AUTH_GITHUB_ID") != "",
		google:   getenv("AUTH_GOOGLE_ID") != "",
		log:      newLog(),
	}
	switch s.strategy {
	case "":
		s.strategy = latchkey.DatabaseSessions
	case latchkey.DatabaseSessions, latchkey.JWTSessions:
	default:
		return s, fmt.Errorf("SESSION_STRATEGY is %q: want %q or %q", s.strategy, latchkey.DatabaseSessions, latchkey.JWTSessions)
	}
	if s.data == "" {
		s.data = filepath.Join(cacheFolder(), "latchkey-demo")
	}
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return s, err
	}
	if len(s.secrets) > 0 {
		return s, nil
	}
	secret, err := keptSecret(filepath.Join(s.data, "secret"))
	s.secrets = []string{secret}
	return s, err
}

// cacheFolder returns the user's cache folder, or os.TempDir if the user has none.
func cacheFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return os.TempDir()
	}
	return dir
}

// keptSecret reads the secret in a file, which is made when it is not there, so
// that sessions outlive a restart. Of several demos that start at once, one
// makes it and all of them use it.
func keptSecret(path string) (string, error) {
	kept, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(kept)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	draft := path + "." + rand.Text()
	if err := os.WriteFile(draft, []byte(rand.Text()+rand.Text()+"\n"), 0o600); err != nil {
		return "", err
	}
	err = os.Link(draft, path) // refuses to replace what another process was quicker to make
	if err := errors.Join(ignoring(err, fs.ErrExist), os.Remove(draft)); err != nil {
		return "", err
	}
	kept, err = os.ReadFile(path)
	return strings.TrimSpace(string(kept)), err
}

// newLog writes one line for each event, for people to read.
func newLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.String(a.Key, a.Value.Time().Format("15:04:05"))
			}
			return a
		},
	}))
}

// ignoring is err, unless it is one that does no harm.
func ignoring(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}
