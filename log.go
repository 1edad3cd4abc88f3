package latchkey

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// journal writes the log. Nothing that could be used to sign in is ever handed
// to it on purpose; what an application's own errors may carry is blotted out.
type journal struct {
	out *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	second int64
	lines  map[ErrorType]int // written in this second
}

const (
	linesPerSecond = 10 // of one kind: an attacker must not fill the disk
	longestText    = 1 << 10
)

func newJournal(s *setup) *journal {
	return &journal{out: defaultLogger(&s.Config), now: s.now, lines: map[ErrorType]int{}}
}

func (j *journal) warn(text string, args ...any) { j.out.Warn("latchkey: "+text, args...) }

// info is the trail of what succeeded.
func (j *journal) info(v *visit, text string, args ...any) {
	if j.out.Enabled(context.Background(), slog.LevelInfo) {
		j.out.Info("latchkey: "+text, append(v.who(), args...)...)
	}
}

func (j *journal) debug(v *visit, err error) {
	if j.out.Enabled(context.Background(), slog.LevelDebug) && j.admits("debug: "+typeOf(err)) {
		j.out.Debug("latchkey: "+string(typeOf(err)), append(v.who(), "error", v.blot(err.Error()))...)
	}
}

// error writes what failed, for whom, and why.
func (j *journal) error(v *visit, err error, args ...any) {
	t := typeOf(err)
	if !j.admits(t) {
		return
	}
	args = append(append(v.who(), "type", string(t), "error", v.blot(err.Error())), args...)
	if p, ok := errors.AsType[*panicError](err); ok {
		args = append(args, "stack", v.blotted(string(p.stack), 16<<10))
	}
	level := slog.LevelError
	if t.onSignInPage() || t == ErrAccessDenied || t == ErrVerification || t == ErrUnknownAction {
		level = slog.LevelWarn // the visitor's doing, not the operator's
	}
	j.out.Log(context.Background(), level, "latchkey: "+string(t), args...)
}

// admits drops lines of a kind that is pouring in.
func (j *journal) admits(t ErrorType) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if second := j.now().Unix(); second != j.second {
		j.second = second
		clear(j.lines)
	}
	j.lines[t]++
	return j.lines[t] <= linesPerSecond
}

// logUnprepared is for errors before there is a configuration to log with.
func logUnprepared(err error) {
	slog.Default().Error("latchkey: " + printable(err.Error(), longestText))
}

// logFailure writes the error that a request ends with.
func (v *visit) logFailure(err error) {
	if _, ok := errors.AsType[*redirect](err); ok {
		return
	}
	v.log.error(v, err)
}

// who describes a visit for the log.
func (v *visit) who() []any {
	args := make([]any, 0, 14)
	args = append(args, "action", v.action)
	if v.provider != nil {
		args = append(args, "provider", v.provider.info().id)
	}
	if client := v.clientAddress(v.request); client != "" {
		args = append(args, "client", client)
	}
	if id := v.request.Header.Get("X-Request-Id"); id != "" {
		args = append(args, "request", printable(id, 64))
	}
	return args
}

// blot makes a text fit for the log: cut, on one line, and without anything
// secret that this request carried or that the operator configured.
func (v *visit) blot(text string) string { return v.blotted(text, longestText) }

func (v *visit) blotted(text string, limit int) string {
	secrets := v.secretsOnHand()
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	cut := len(text) > 4*limit
	if cut {
		text = text[:4*limit]
	}
	for _, secret := range secrets {
		if len(secret) < 4 {
			break
		}
		text = strings.ReplaceAll(text, secret, redacted)
		if cut {
			text = withoutStart(text, secret)
		}
	}
	return printable(withoutAddresses(text), limit)
}

const redacted = "[redacted]"

// withoutStart drops the beginning of a secret that text was cut in.
func withoutStart(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n]
		}
	}
	return text
}

// withoutAddresses blots out what addresses in an error's text may carry: the
// password of a data source, and the query of a request.
func withoutAddresses(text string) string {
	text = urlPassword.ReplaceAllString(text, "://"+redacted+"@")
	text = urlQuery.ReplaceAllString(text, "$1?"+redacted)
	return dsnPassword.ReplaceAllString(text, "$1="+redacted)
}

var (
	urlPassword = regexp.MustCompile(`://[^\s/?#"]*@`)
	urlQuery    = regexp.MustCompile(`(://[^\s?"]*)\?[^\s"]*`)
	dsnPassword = regexp.MustCompile(`(?i)\b(password|passwd|pwd)=('[^']*'|\S+)`)
)

// secretsOnHand are the values that may not be repeated.
func (v *visit) secretsOnHand() []string {
	secrets := append(slices.Clone(v.learned), v.Secrets...)
	for _, p := range v.order {
		if keeper, ok := p.(interface{ secrets() []string }); ok {
			secrets = append(secrets, keeper.secrets()...)
		}
	}
	for _, line := range v.request.Header["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			if _, value, ok := strings.Cut(pair, "="); ok {
				secrets = append(secrets, value, unescapeCookie(value))
			}
		}
	}
	for _, name := range []string{"code", "state", "token", "id_token", "access_token"} {
		secrets = append(secrets, v.query[name]...)
	}
	for name, value := range v.form {
		if text, ok := value.(string); ok && name != "callbackUrl" && name != "email" {
			secrets = append(secrets, text)
		}
	}
	if auth := v.request.Header.Get("Authorization"); auth != "" {
		_, token, _ := strings.Cut(auth, " ")
		secrets = append(secrets, token)
	}
	return secrets
}

// printable cuts text and escapes what could forge a line.
func printable(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
