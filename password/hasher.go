package password

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

var (
	// ErrBusy is returned when too many checks wait for memory, or one has waited for
	// two seconds. It wraps [storage.ErrUnavailable]: try again.
	ErrBusy = fmt.Errorf("password: too many checks at a time: %w", storage.ErrUnavailable)

	// ErrHash is returned for a stored hash that cannot be checked: its format is
	// unknown, it is damaged, or its parameters are above the limits of this package.
	// It wraps [errors.ErrUnsupported]. The user has to set a new password.
	ErrHash = fmt.Errorf("password: hash not supported: %w", errors.ErrUnsupported)
)

// maxBytes limits the length of a password. A longer one is refused and never cut.
const maxBytes = 1024

// Options configures a [Hasher]. The zero value is a good choice.
type Options struct {
	// Params are the parameters of new hashes. The zero value means 19 MiB, two
	// passes and one thread, as OWASP recommends for argon2id.
	Params Params

	// Memory limits the bytes that all hashes and checks use at a time. 0 means 64 MiB.
	Memory int64

	// Peppers are secret keys that are mixed into each password, the newest first. New
	// hashes use the first one. A hash that names an older one, or none, is still
	// checked and reported as stale.
	Peppers []Pepper

	// DevisePepper is config.pepper of Devise. It is appended to passwords whose hash
	// is plain bcrypt.
	DevisePepper string

	// Verify checks hashes of formats that this package does not know. The key is what
	// such hashes begin with. [New] refuses a key that begins with another. Verify comes
	// before the formats of this package. The function has to run in bounded time and
	// memory.
	Verify map[string]func(hash, password string) (bool, error)

	// MinLength is the least number of characters (code points) of a new password. 0
	// means 8, and less is refused. NIST SP 800-63B-4 asks for 15 where a password
	// alone signs a user in.
	MinLength int

	// Words are names that a new password must not mostly consist of, such as those of
	// the company and the product.
	Words []string

	// Breached reports whether a password is known to be leaked. [RangeAPI] asks a
	// public service. nil means that only the built-in list is used. An error is
	// logged, and the password counts as not leaked.
	Breached func(ctx context.Context, password string) (bool, error)

	// CheckBreached makes [Hasher.Check] call Breached for each right password, too.
	CheckBreached bool

	// Logger receives the errors of Breached. nil means [slog.Default].
	Logger *slog.Logger
}

// Params are the costs of argon2id. A zero field has its default.
type Params struct {
	KiB     uint32 // memory in KiB; 0: 19456, at most 262144
	Passes  uint32 // 0: 2, at most 16
	Threads uint8  // 0: 1, at most 16
}

// Pepper is a secret key with a name. The name is stored in each hash.
type Pepper struct {
	ID  string // 1 to 8 bytes, never reused for another key
	Key []byte // 32 bytes
}

// String hides the key.
func (p Pepper) String() string { return "Pepper " + p.ID }

// GoString hides the key.
func (p Pepper) GoString() string { return p.String() }

// LogValue hides the key.
func (p Pepper) LogValue() slog.Value { return slog.StringValue(p.String()) }

// Result tells what [Hasher.Check] found: OK, Stale, and Breached, which is set only
// with Options.CheckBreached.
type Result = latchkey.PasswordCheck

// Hasher hashes and checks passwords. It is safe for concurrent use.
type Hasher struct {
	o      Options
	budget *budget
	words  []string // folded
}

// New returns a Hasher, or an error that names each field that is wrong.
func New(o Options) (*Hasher, error) {
	o.Params = o.Params.withDefaults()
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.MinLength == 0 {
		o.MinLength = 8
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if err := errors.Join(o.faults()...); err != nil {
		return nil, err
	}
	peppers := make([]Pepper, len(o.Peppers))
	for i, p := range o.Peppers {
		peppers[i] = Pepper{p.ID, append([]byte(nil), p.Key...)}
	}
	o.Peppers = peppers
	return &Hasher{o: o, budget: newBudget(o.Memory), words: foldAll(o.Words)}, nil
}

// faults returns an error for each field that is wrong, after New has filled in the
// defaults.
func (o Options) faults() (faults []error) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("password: "+format, args...)) }
	if p := o.Params; p.KiB > maxKiB || p.Passes > maxPasses || p.Threads > maxThreads || p.KiB < 8*uint32(p.Threads) {
		add("Params are %d KiB, %d passes, %d threads: want at most %d, %d, %d, and 8 KiB a thread",
			p.KiB, p.Passes, p.Threads, maxKiB, maxPasses, maxThreads)
	}
	if need := o.Params.bytes(); o.Memory < need {
		add("Memory is %d bytes: one hash takes %d", o.Memory, need)
	}
	if o.MinLength < 8 {
		add("MinLength is %d: want at least 8", o.MinLength)
	}
	if o.CheckBreached && o.Breached == nil {
		add("CheckBreached is set without Breached: set Breached, such as RangeAPI")
	}
	seen := map[string]bool{}
	for i, p := range o.Peppers {
		if len(p.ID) == 0 || len(p.ID) > 8 || len(p.Key) != 32 || seen[p.ID] {
			add("Peppers[%d]: want an ID of 1 to 8 bytes that no other has, and a Key of 32 bytes", i)
		}
		seen[p.ID] = true
	}
	prefixes := slices.Sorted(maps.Keys(o.Verify))
	for i, prefix := range prefixes {
		if prefix == "" || o.Verify[prefix] == nil {
			add("Verify[%q]: want a prefix and a function", prefix)
		}
		for _, longer := range prefixes[i+1:] {
			if prefix != "" && strings.HasPrefix(longer, prefix) {
				add("Verify[%q] begins with Verify[%q]: want one function, under the shorter prefix, that tells the two formats apart", longer, prefix)
			}
		}
	}
	return faults
}

// Hash returns a new hash of a password, with a salt of its own, as a PHC string. It
// returns [ErrBusy], the error of ctx, or an error for a password that is empty or that
// [Hasher.Weakness] calls "long" or "control". It checks no other rule.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	text, err := prepared(password)
	if err != nil {
		return "", err
	}
	if err := h.budget.take(ctx, h.o.Params.bytes()); err != nil {
		return "", err
	}
	defer h.budget.giveBack(h.o.Params.bytes())
	return h.o.newArgon().hash(text), nil
}

// Check compares a password with a stored hash. A wrong password is no error: the
// Result is then zero. A password of more than 1,024 bytes fits no hash. An empty hash
// stands for an unknown user or one without a password: it fits no password, and costs
// as much time as a wrong one. With Options.CheckBreached a right password is also
// given to Options.Breached. Check returns [ErrHash], [ErrBusy], the error of ctx or of
// a function of Options.Verify, or an error that names a pepper which is missing in the
// configuration.
func (h *Hasher) Check(ctx context.Context, hash, password string) (Result, error) {
	v, err := h.verifierOf(hash)
	if err != nil {
		return Result{}, err
	}
	need := max(v.bytes, h.o.Params.bytes())
	if err := h.budget.take(ctx, need); err != nil {
		return Result{}, err
	}
	ok, err := v.fits(password)
	h.budget.giveBack(need)
	if err != nil || !ok {
		return Result{}, err
	}
	if text, err := prepared(password); err == nil { // as Weakness asks about it
		password = text
	}
	return Result{OK: true, Stale: v.stale, Breached: h.o.CheckBreached && h.breached(ctx, password)}, nil
}

// verifierOf returns the verifier of a stored hash, or that of an unknown user for an
// empty one. Its errors are those of parse.
func (h *Hasher) verifierOf(hash string) (verifier, error) {
	if hash == "" {
		return h.o.nobody(), nil
	}
	return h.o.parse(hash)
}

// breached reports whether a password is known to be leaked. It reports false without
// Options.Breached, after the end of ctx, and after a failure, which it logs: a service
// that is down must keep no user out.
func (h *Hasher) breached(ctx context.Context, password string) bool {
	if h.o.Breached == nil || ctx.Err() != nil {
		return false
	}
	found, err := h.o.Breached(ctx, password)
	if err != nil {
		h.o.Logger.WarnContext(ctx, "password: could not ask whether a password is leaked", "error", err)
	}
	return found && err == nil
}
