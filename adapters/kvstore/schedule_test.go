package kvstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// The scheduler runs operations that take turns: one call of the store is one
// step, and it decides whose is next. Run again and again with other decisions,
// they meet in every order there is.

// call is one step of an operation, before it is taken.
type call struct {
	what   string
	keys   []kvstore.Key // a list of what a user owns is the key of kind "list"
	writes bool
}

func (c call) String() string {
	text := c.what
	for _, k := range c.keys {
		text += fmt.Sprintf(" %s:%.6s", k.Kind, k.Name)
	}
	return text
}

// commutes tells whether the order of two steps makes no difference.
func (c call) commutes(other call) bool {
	if plainly {
		return false
	}
	if !c.writes && !other.writes {
		return true
	}
	return !slices.ContainsFunc(c.keys, func(k kvstore.Key) bool { return slices.Contains(other.keys, k) })
}

// times is how many times as many orders are tried as usual, and plainly tries those too
// that differ in nothing. LATCHKEY_ORDERS is a number, as in the nightly run, or "all" or
// "plain", which have no limit and take hours.
var (
	plainly = os.Getenv("LATCHKEY_ORDERS") == "plain"
	times   = timesOf(os.Getenv("LATCHKEY_ORDERS"))
)

func timesOf(text string) int {
	if text == "all" || text == "plain" {
		return 1 << 40
	}
	n, err := strconv.Atoi(cmp.Or(text, "1"))
	if err != nil || n < 1 {
		panic(fmt.Sprintf("LATCHKEY_ORDERS is %q, want a number, all or plain", text))
	}
	return n
}

// fault is what befalls one step of one operation.
type fault struct {
	kind faultKind
	op   int
	step int
}

type faultKind string

const (
	noFault  faultKind = ""
	stopped  faultKind = "stopped after"   // the process ended
	repeated faultKind = "repeated"        // the answer was lost, and the client asked again
	unheard  faultKind = "done and failed" // the answer was lost for good
	failed   faultKind = "failed"          // it was not done at all
)

var faultKinds = []faultKind{stopped, repeated, unheard, failed}

// turns is the Conn of one operation.
type turns struct {
	*memory
	yield func(call) bool
	fault fault // op is not looked at
	taken int
	ended bool
}

var errFault = errors.New("the store cannot be reached")

// step waits for its turn, takes the step and lets the fault befall it.
func step[T any](c *turns, next call, do func() (T, error)) (out T, err error) {
	if c.ended || !c.yield(next) {
		c.ended = true
		return out, errFault
	}
	n := c.taken
	c.taken++
	if c.fault.kind == noFault || c.fault.step != n {
		return do()
	}
	if c.fault.kind == failed {
		return out, errFault
	}
	_, _ = do()
	if c.fault.kind == repeated && c.yield(next) {
		return do()
	}
	c.ended = c.fault.kind != unheard
	return out, errFault
}

func (c *turns) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	return step(c, call{"get", keys, false}, func() ([]kvstore.Record, error) { return c.memory.Get(ctx, keys...) })
}

func (c *turns) Put(ctx context.Context, r kvstore.Record, over string) error {
	what := "put"
	if r.IsVoid() {
		what = "void"
	}
	_, err := step(c, call{what, []kvstore.Key{r.Key}, true}, func() (struct{}, error) { return struct{}{}, c.memory.Put(ctx, r, over) })
	return err
}

func (c *turns) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	return step(c, call{"delete", []kvstore.Key{k}, true}, func() (kvstore.Record, error) { return c.memory.Delete(ctx, k, version) })
}

func listOf(user string) []kvstore.Key { return []kvstore.Key{{Kind: "list", Name: user}} }

func (c *turns) Own(ctx context.Context, user string, k kvstore.Key, until time.Time) error {
	_, err := step(c, call{"own", listOf(user), true}, func() (struct{}, error) { return struct{}{}, c.memory.Own(ctx, user, k, until) })
	return err
}

func (c *turns) Disown(ctx context.Context, user string, k kvstore.Key) error {
	_, err := step(c, call{"disown", listOf(user), true}, func() (struct{}, error) { return struct{}{}, c.memory.Disown(ctx, user, k) })
	return err
}

func (c *turns) Owned(ctx context.Context, user string) ([]kvstore.Key, error) {
	return step(c, call{"owned", listOf(user), false}, func() ([]kvstore.Key, error) { return c.memory.Owned(ctx, user) })
}

// operation is something that is done to a store at the same time as another.
type operation func(ctx context.Context, s *kvstore.Store) error

// run is one schedule: operations in the middle of their work.
type run struct {
	memory  *memory
	next    []func() (call, bool)
	end     []func()
	pending []call
	alive   uint // a bit for each operation that is not done
	errs    []error
	taken   []int
	trace   []taken
}

type taken struct {
	by int
	call
}

func (t taken) String() string { return fmt.Sprintf("\n%c %v", 'A'+t.by, t.call) }

func newRun(m *memory, ops []operation, f fault) *run {
	r := &run{memory: m, pending: make([]call, len(ops)), errs: make([]error, len(ops)), taken: make([]int, len(ops))}
	for i, op := range ops {
		conn := &turns{memory: m}
		if f.op == i {
			conn.fault = f
		}
		next, end := iter.Pull(func(yield func(call) bool) {
			conn.yield = yield
			r.errs[i] = op(context.Background(), kvstore.New(conn, kvstore.Options{}))
		})
		r.next, r.end = append(r.next, next), append(r.end, end)
		r.resume(i)
	}
	return r
}

// resume takes the pending step of an operation and stops before its next one.
func (r *run) resume(i int) {
	c, more := r.next[i]()
	r.pending[i] = c
	r.alive &^= 1 << i
	if more {
		r.alive |= 1 << i
	}
}

func (r *run) take(i int) {
	r.trace = append(r.trace, taken{i, r.pending[i]})
	r.taken[i]++
	r.resume(i)
}

func (r *run) stop() {
	for _, end := range r.end {
		end()
	}
}

// choice is a point of a schedule at which it could have gone on otherwise.
type choice struct {
	taken    int
	tried    uint // operations that were taken here before
	sleeping uint // those whose turn now leads to what was seen already
	possible uint
	pending  []call
}

// explore runs the operations in every order, and calls seen after each. Of
// orders that differ only in steps that commute it runs one. It returns how many
// there were and the most steps that an operation took.
func explore(open func() *memory, ops []operation, f fault, limit int, seen func(*run) error) (schedules int, steps []int, err error) {
	var path []choice
	steps = make([]int, len(ops))
	for runs := 0; ; runs++ {
		r := newRun(open(), ops, f)
		whole := true
		for depth := 0; r.alive != 0; depth++ {
			if depth == len(path) {
				path = append(path, choiceAt(r, path))
			}
			c := &path[depth]
			if c.taken < 0 {
				whole = false
				break
			}
			r.take(c.taken)
		}
		r.stop()
		if whole {
			schedules++
			for i := range steps {
				steps[i] = max(steps[i], r.taken[i])
			}
			if err := seen(r); err != nil {
				return schedules, steps, fmt.Errorf("%w%v", err, r.trace)
			}
		}
		if runs >= limit {
			return schedules, steps, errLimit
		}
		if path = nextPath(path); path == nil {
			return schedules, steps, nil
		}
	}
}

var errLimit = errors.New("there are more")

// choiceAt is the first decision at a point that was not reached before.
func choiceAt(r *run, path []choice) choice {
	c := choice{possible: r.alive, pending: slices.Clone(r.pending)}
	if len(path) > 0 {
		former := path[len(path)-1]
		for i := range r.pending {
			if (former.sleeping|former.tried)>>i&1 == 1 && former.pending[i].commutes(former.pending[former.taken]) {
				c.sleeping |= 1 << i
			}
		}
	}
	c.taken = c.another()
	return c
}

// another is an operation that was not taken here, or -1.
func (c *choice) another() int {
	for i := range c.pending {
		if (c.possible&^(c.tried|c.sleeping))>>i&1 == 1 {
			return i
		}
	}
	return -1
}

// nextPath changes the last decision that can be another.
func nextPath(path []choice) []choice {
	for ; len(path) > 0; path = path[:len(path)-1] {
		c := &path[len(path)-1]
		if c.taken < 0 {
			continue
		}
		c.tried |= 1 << c.taken
		if c.taken = c.another(); c.taken >= 0 {
			return path
		}
	}
	return nil
}

// sample runs the operations in one order made of the numbers, in which one of
// them often goes on for a while.
func sample(m *memory, ops []operation, random *mathrand.Rand) *run {
	r := newRun(m, ops, fault{})
	for at := 0; r.alive != 0; {
		if r.alive>>at&1 == 0 || random.IntN(6) == 0 {
			at = random.IntN(len(ops))
			continue
		}
		r.take(at)
	}
	r.stop()
	return r
}
