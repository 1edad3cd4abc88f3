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

// jobVariable makes the test binary do a job instead of running tests.
const jobVariable = "LATCHKEY_CRASH_JOB"

func TestMain(m *testing.M) {
	text := os.Getenv(jobVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := runJob(text); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// flow is what a browser does in a process that is killed.
type flow string

const (
	signUp   flow = "sign-up"
	mailLink flow = "magic link"
	linking  flow = "second account"
	signOut  flow = "sign-out"
	renewal  flow = "renewal of provider tokens"
)

// job is one flow at an instance of the site in a process of its own.
type job struct {
	Flow         flow
	By           driver
	DSN          string
	Issuer       string
	ClientID     string
	ClientSecret string
	Person       int
	Email        string
	Cookies      map[string]string // of a browser that has been here before
}

// The lines that a process writes as its job goes on.
const (
	ready       = "ready"   // to go as soon as a byte is read
	begun       = "begun"   // the flow
	lastRequest = "last"    // the last request is next
	writing     = "writing" // it has come as far as the rows
	written     = "written" // it has been answered
)

func runJob(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	ctx := context.Background()
	a, end, err := connect(ctx, j.By, j.DSN, 4)
	if err != nil {
		return err
	}
	defer end()
	links := make(chan string, 1)
	provider := &latchkey.OAuth{ID: "issuer", OIDC: true, Issuer: j.Issuer, ClientID: j.ClientID, ClientSecret: j.ClientSecret}
	send := func(_ context.Context, link latchkey.Message) error { links <- link.URL; return nil }
	c := settings(a, provider, send, &diary{})
	audited(&c)
	c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
		if !a.VerificationRequest { // who it is has been asked; users, accounts and sessions are next
			fmt.Println(writing)
		}
		return nil
	}
	if j.Flow == renewal {
		shortLease(&c)
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
	if j.Flow == renewal {
		err = renew(ctx, auth, a, j.Person)
		fmt.Println(written)
	} else {
		err = j.run(ctx, &browser{auth, j.Cookies}, links)
	}
	if err != nil {
		return err
	}
	_, err = in.ReadByte() // whoever waits to be killed is still there
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// run does the job, and prints how far it has come.
func (j *job) run(ctx context.Context, b *browser, links <-chan string) error {
	last, err := j.untilLastRequest(ctx, b, links)
	if err != nil {
		return err
	}
	fmt.Println(lastRequest)
	if j.Flow == signOut {
		fmt.Println(writing)
	}
	got := last()
	fmt.Println(written)
	if got.fault() != "" || got.signedIn() == (j.Flow == signOut) {
		return fmt.Errorf("the flow ended with %v", got)
	}
	return nil
}

// untilLastRequest does everything but the last request.
func (j *job) untilLastRequest(ctx context.Context, b *browser, links <-chan string) (last func() answer, err error) {
	target := ""
	switch j.Flow {
	case signUp:
		target, err = b.begin(ctx, "issuer", j.Person)
	case linking:
		target, err = b.begin(ctx, "second", j.Person)
	case mailLink:
		if got := askForLink(ctx, b, j.Email); got.fault() != "" {
			return nil, fmt.Errorf("asking for a link: %v", got)
		}
		target = <-links
	case signOut:
		return func() answer { return b.press(ctx, "signout", nil) }, nil
	}
	return func() answer { return b.send(ctx, target, nil) }, err
}

// process is a test binary that does a job.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	lines    *bufio.Scanner
	lastLine string // the last line it wrote
}

// startProcess starts a process and waits until it is ready. It dies with this
// one.
func (j *job) startProcess(t testing.TB) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
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
	for p.lastLine != stage {
		if !p.lines.Scan() {
			_ = p.cmd.Wait()
			t.Fatalf("the process ended before it was %q: %s", stage, p.lastLine)
		}
		p.lastLine = p.lines.Text()
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
		p.lastLine = p.lines.Text()
	}
	var ended *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed, it ended by itself: %v; %s", err, p.lastLine)
	}
	return p.lastLine
}

// finish lets the process end by itself.
func (p *process) finish(t testing.TB) {
	t.Helper()
	_ = p.in.Close()
	for p.lines.Scan() {
		p.lastLine = p.lines.Text()
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("a job that nobody disturbed: %v; %s", err, p.lastLine)
	}
}
