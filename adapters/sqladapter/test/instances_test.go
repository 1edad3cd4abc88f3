package test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// instanceOf says in the environment of a process that it is an instance of a
// site, and of which engine, driver and database.
const instanceOf = "LATCHKEY_TEST_INSTANCE"

// isInstance is false if this process is there for tests. Otherwise the instance
// has done its work.
func isInstance() bool {
	of := os.Getenv(instanceOf)
	if of == "" {
		return false
	}
	if err := beInstance(strings.SplitN(of, " ", 3), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// beInstance says when it is ready, is told how many callers it has, and says how
// many of them were admitted.
func beInstance(of []string, in io.Reader, out io.Writer) error {
	db, err := sql.Open(of[1], of[2])
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(8)
	a, err := sqladapter.New(db, engineCalled(of[0]).dialect, sqladapter.Options{})
	if err == nil {
		err = a.Forget(context.Background(), "nobody") // it looks at the tables now
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "ready")
	var callers int
	if _, err := fmt.Fscan(in, &callers); err != nil {
		return err
	}
	admitted, err := takeAtOnce(a, callers)
	_, _ = fmt.Fprintln(out, admitted)
	return err
}

func engineCalled(name string) (found engine) {
	for _, e := range engines {
		if e.name == name {
			found = e
		}
	}
	return found
}

func takeAtOnce(a *sqladapter.Adapter, callers int) (admitted int64, err error) {
	var all sync.WaitGroup
	var yes atomic.Int64
	errs := make(chan error, callers)
	for range callers {
		all.Go(func() {
			wait, err := a.Take(context.Background(), "processes", twenty)
			if err == nil && wait == 0 {
				yes.Add(1)
			}
			errs <- err
		})
	}
	all.Wait()
	for range callers {
		if failed := <-errs; failed != nil {
			err = failed
		}
	}
	return yes.Load(), err
}

// instance is a process that beInstance is in.
type instance struct {
	*osexec.Cmd
	in  io.Writer
	out io.Reader
}

func startInstance(t *testing.T, e engine, db *sql.DB) instance {
	t.Helper()
	how, _ := opened.Load(db)
	of := how.([2]string)
	i := instance{Cmd: osexec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])}
	i.Env = append(os.Environ(), instanceOf+"="+e.name+" "+of[0]+" "+of[1])
	i.Stderr = os.Stderr
	var err error
	i.in, err = i.StdinPipe()
	ok(t, err)
	i.out, err = i.StdoutPipe()
	ok(t, err)
	ok(t, i.Start())
	t.Cleanup(func() { _ = i.Process.Kill() }) // of one that is over it is an error
	var said string
	if _, err := fmt.Fscan(i.out, &said); err != nil || said != "ready" {
		t.Fatalf("an instance says %q, error %v", said, err)
	}
	return i
}

// takenByProcesses is how many of a hundred callers in three processes were
// admitted.
func takenByProcesses(t *testing.T, e engine, db *sql.DB) (all int) {
	t.Helper()
	var instances [3]instance
	for i := range instances {
		instances[i] = startInstance(t, e, db)
	}
	for n, i := range instances {
		_, err := fmt.Fprintln(i.in, 33+n/2)
		ok(t, err)
	}
	for _, i := range instances {
		var admitted int
		_, err := fmt.Fscan(i.out, &admitted)
		ok(t, err)
		all += admitted
		ok(t, i.Wait())
	}
	return all
}
