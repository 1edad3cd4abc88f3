package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// errandVariable makes the test binary do an errand instead of running tests.
const errandVariable = "LATCHKEY_CRASH_ERRAND"

func TestMain(m *testing.M) {
	text := os.Getenv(errandVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := goOnErrand(text); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// flow is what a visitor does in a process that is killed.
type flow string

const (
	signUp   flow = "sign-up"
	mailLink flow = "magic link"
	linking  flow = "second account"
	signOut  flow = "sign-out"
)

// errand is one visit to an instance of the site in a process of its own.
type errand struct {
	Flow         flow
	By           driver
	DSN          string
	Issuer       string
	ClientID     string
	ClientSecret string
	Person       int
	Email        string
	Jar          map[string]string // of a visitor who has been here before
}

// The lines that a process on an errand writes on the way.
const (
	ready   = "ready"   // to go as soon as a byte is read
	begun   = "begun"   // the visit
	landing = "landing" // the last request is next
	writing = "writing" // it has come as far as the rows
	written = "written" // it has been answered
)

func goOnErrand(text string) error {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	ctx := context.Background()
	a, end, err := connect(ctx, e.By, e.DSN, 4)
	if err != nil {
		return err
	}
	defer end()
	links := make(chan string, 1)
	provider := &latchkey.OAuth{ID: "issuer", OIDC: true, Issuer: e.Issuer, ClientID: e.ClientID, ClientSecret: e.ClientSecret}
	send := func(_ context.Context, link latchkey.SignInLink) error { links <- link.URL; return nil }
	c := settings(a, provider, send, &diary{})
	c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
		if !a.VerificationRequest { // who it is has been asked; users, accounts and sessions are next
			fmt.Println(writing)
		}
		return nil
	}
	auth, err := latchkey.New(c)
	if err != nil {
		return err
	}
	fmt.Println(ready)
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadByte(); err != nil {
		return err
	}
	fmt.Println(begun)
	if err := e.visit(ctx, &browser{auth, e.Jar}, links); err != nil {
		return err
	}
	_, err = in.ReadByte() // whoever waits to be killed is still there
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// visit does what the errand is for, and tells how far it has come.
func (e *errand) visit(ctx context.Context, b *browser, links <-chan string) error {
	last, err := e.approach(ctx, b, links)
	if err != nil {
		return err
	}
	fmt.Println(landing)
	if e.Flow == signOut {
		fmt.Println(writing)
	}
	got := last()
	fmt.Println(written)
	if got.fault() != "" || got.signedIn() == (e.Flow == signOut) {
		return fmt.Errorf("the visit ended with %v", got)
	}
	return nil
}

// approach does everything but the last request.
func (e *errand) approach(ctx context.Context, b *browser, links <-chan string) (last func() answer, err error) {
	target := ""
	switch e.Flow {
	case signUp:
		target, err = b.begin(ctx, "issuer", e.Person)
	case linking:
		target, err = b.begin(ctx, "second", e.Person)
	case mailLink:
		if got := askForLink(ctx, b, e.Email); got.fault() != "" {
			return nil, fmt.Errorf("asking for a link: %v", got)
		}
		target = <-links
	case signOut:
		return func() answer { return b.press(ctx, "signout", nil) }, nil
	}
	return func() answer { return b.send(ctx, target, nil) }, err
}

// process is a test binary on an errand.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	stage string // the last line it wrote
}

// dispatch starts a process and waits until it is ready. It dies with this one.
func (e *errand) dispatch(t testing.TB) *process {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), errandVariable+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = dieWithParent()
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	p.until(t, ready)
	return p
}

// until reads what the process writes until it has come so far.
func (p *process) until(t testing.TB, stage string) {
	t.Helper()
	for p.stage != stage {
		if !p.lines.Scan() {
			_ = p.cmd.Wait()
			t.Fatalf("the process ended before it was %q: %s", stage, p.stage)
		}
		p.stage = p.lines.Text()
	}
}

// start lets the process go.
func (p *process) start(t testing.TB) {
	t.Helper()
	if _, err := p.in.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process by SIGKILL and returns how far it came.
func (p *process) kill(t testing.TB) string {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for p.lines.Scan() {
		p.stage = p.lines.Text()
	}
	var ended *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed, it ended by itself: %v; %s", err, p.stage)
	}
	return p.stage
}

// finish lets the process end by itself.
func (p *process) finish(t testing.TB) {
	t.Helper()
	_ = p.in.Close()
	for p.lines.Scan() {
		p.stage = p.lines.Text()
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("an errand that nobody disturbed: %v; %s", err, p.stage)
	}
}
