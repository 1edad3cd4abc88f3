package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/password"
	"github.com/latchkeyhq/latchkey/storage"
)

func (p *program) passwordCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "password", Short: "Bring users and their password hashes from another program",
		Example: "  latchkey password import users.csv",
	}, p.importCommand())
}

const aboutImport = `Read users with their password hashes and say what an import would do. With --write, do it.

FILE has CSV with a header, or a JSON object on each line; - is the standard input. The fields are
email, hash, name and email_verified (true, false, or a time). Others are ignored. The hashes stay as
they are: users sign in with the passwords that they have, which are then hashed anew.

A user whose address is in the database already is left alone, so that an interrupted import can be
repeated. A user without email_verified proves the address at the first sign-in. No hash is printed.

Exit code 1: some lines cannot be imported. The others are.

` + aboutDatabaseURL

func (p *program) importCommand() *cobra.Command {
	var database string
	var write bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Import users with password hashes", Long: aboutImport, Args: cobra.ExactArgs(1),
		Example: "  latchkey password import users.csv\n  latchkey password import --write users.csv",
		RunE: does(func(c *cobra.Command, args []string) error {
			return p.importPasswords(c.Context(), database, args[0], write)
		}),
	}
	c.Flags().StringVar(&database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().BoolVar(&write, "write", false, "write to the database")
	return c
}

// importedUser is a user of another program, as a line of the file has it.
type importedUser struct {
	Email         string `json:"email"`
	Hash          string `json:"hash"`
	Name          string `json:"name"`
	EmailVerified any    `json:"email_verified"`
}

// mostNamed is how many lines that cannot be imported are named.
const mostNamed = 20

// imported counts what an import does.
type imported struct {
	formats        map[string]int // users by the format of their hash; "" without one
	known, refused int
	lines          map[string]int // the first line with an address
	repeated       int            // lines with the address of an earlier one
}

// repeats reports whether an earlier line has the address email, and remembers the
// address otherwise. It counts a line that repeats one, and names the first mostNamed of
// them on out.
func (n *imported) repeats(out io.Writer, line int, email string) bool {
	first, repeated := n.lines[email]
	if !repeated {
		n.lines[email] = line
		return false
	}
	if n.repeated++; n.repeated <= mostNamed {
		fmt.Fprintf(out, "line %d: left out, since line %d has this address\n", line, first)
	}
	return true
}

// importPasswords imports the users in file ("-" is standard input), or without write only
// counts them. It names refused lines on standard error, at most mostNamed. It goes on with
// the rest, and then returns an error. It stops at an error of the database or of the file.
func (p *program) importPasswords(ctx context.Context, rawURL, file string, write bool) error {
	db, store, _, err := p.openUsable(ctx, rawURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	in := p.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	n := imported{formats: map[string]int{}, lines: map[string]int{}}
	err = eachImported(in, func(line int, u *importedUser, err error) error {
		var format string
		if err == nil {
			format, err = u.check()
		}
		if err != nil {
			if n.refused++; n.refused <= mostNamed {
				fmt.Fprintf(p.stderr, "line %d: %v\n", line, err)
			}
			return nil
		}
		if n.repeats(p.stderr, line, u.Email) {
			return nil
		}
		known, err := importUser(ctx, store, u, p.now(), write)
		switch {
		case err != nil:
			return db.failed(err)
		case known:
			n.known++
		default:
			n.formats[format]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.sayImported(db, &n, write)
}

// sayImported prints the counts of an import, and returns an error if lines were refused.
func (p *program) sayImported(db *connection, n *imported, write bool) error {
	all, formats := 0, []string{}
	for _, format := range slices.Sorted(maps.Keys(n.formats)) {
		all += n.formats[format]
		name := format
		if name == "" {
			name = "without a password"
		}
		formats = append(formats, fmt.Sprintf("%d %s", n.formats[format], name))
	}
	verb := "would import"
	if write {
		verb = "imported"
	}
	fmt.Fprintf(p.stdout, "%s: %s %s", db.where, verb, counted(int64(all), "user"))
	if len(formats) > 0 {
		fmt.Fprintf(p.stdout, ": %s", strings.Join(formats, ", "))
	}
	were := "were"
	if n.known == 1 {
		were = "was"
	}
	fmt.Fprintf(p.stdout, ". %d %s there already.", n.known, were)
	if n.repeated > 0 {
		fmt.Fprintf(p.stdout, " Left out %s with the address of an earlier one.", counted(int64(n.repeated), "line"))
	}
	if !write {
		fmt.Fprint(p.stdout, " Nothing was written: add --write.")
	}
	fmt.Fprintln(p.stdout)
	if n.refused > 0 {
		return fmt.Errorf("%s cannot be imported", counted(int64(n.refused), "line"))
	}
	return nil
}

// check puts the normalized address into u, and returns the format of the hash, which is
// "" without a hash. It returns an error for an address that is none and for a hash of an
// unknown format.
func (u *importedUser) check() (format string, err error) {
	email, err := mailbox.Normalize(u.Email)
	if err == nil {
		err = mailbox.Check(email)
	}
	if err != nil {
		return "", errors.New("no e-mail address")
	}
	if u.Email = email; u.Hash == "" {
		return "", nil
	}
	return password.Format(u.Hash)
}

// verified returns when the address was proven: the time in the file, or now if the file
// only says that it was. It returns zero for no, for a time after now, and for anything
// else.
func (u *importedUser) verified(now time.Time) time.Time {
	switch v := u.EmailVerified.(type) {
	case bool:
		if v {
			return now
		}
	case string:
		at, err := time.Parse(time.RFC3339, v)
		switch {
		case err == nil && !at.After(now):
			return at
		case slices.Contains([]string{"true", "t", "1", "yes"}, strings.ToLower(v)):
			return now
		}
	}
	return time.Time{}
}

// importUser stores a user with the password hash in one transaction. It stores nothing
// if the address is known already or write is false. It reports whether the address is
// known.
func importUser(ctx context.Context, store *sqladapter.Adapter, u *importedUser, now time.Time, write bool) (known bool, err error) {
	_, err = store.GetUserByEmail(ctx, u.Email)
	if !errors.Is(err, storage.ErrNotFound) || !write {
		return err == nil, ignoring(err, storage.ErrNotFound)
	}
	now = now.UTC()
	return false, store.InTx(ctx, func(tx storage.Adapter) error {
		made, err := tx.CreateUser(ctx, storage.User{Name: u.Name, Email: u.Email, EmailVerified: u.verified(now), Created: now})
		keeper, keeps := tx.(storage.PasswordAdapter)
		switch {
		case err != nil || u.Hash == "":
			return err
		case !keeps:
			return errors.New("the database has no table for passwords: run latchkey migrate")
		}
		return keeper.Passwords().Set(ctx, storage.PasswordHash{UserID: made.ID, Hash: u.Hash, Created: now, Changed: now}, "")
	})
}

// ignoring returns nil if err is target, as [errors.Is] reports it, and err otherwise.
func ignoring(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// longestLine is the longest line of JSON that is read.
const longestLine = 1 << 20

// byteOrderMark is what editors put in front of a text.
const byteOrderMark = "\ufeff"

// eachImported reads CSV or JSON lines and calls f for each user, one at a time. For a
// malformed line it calls f with an err that does not repeat the line, and with a u that
// means nothing. eachImported ends with the first error of f or of in. It returns an
// error for an empty file.
func eachImported(in io.Reader, f func(line int, u *importedUser, err error) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	if head, _ := r.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = r.Discard(len(byteOrderMark))
	}
	head, err := r.Peek(1)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	if head[0] != '{' {
		return eachRecord(r, f)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for line := 1; lines.Scan(); line++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		u := &importedUser{}
		wrong := json.Unmarshal(lines.Bytes(), u)
		if wrong != nil {
			wrong = errors.New("no JSON object with the fields email, hash, name and email_verified")
		}
		if err := f(line, u, wrong); err != nil {
			return err
		}
	}
	return lines.Err()
}

// eachRecord does what eachImported does, for CSV. The first line has the names of the
// columns, in any order; without a column email eachRecord returns an error. A line may
// be 0 if the reader does not know it.
func eachRecord(in io.Reader, f func(line int, u *importedUser, err error) error) error {
	r := csv.NewReader(in)
	r.ReuseRecord = true
	names, err := r.Read()
	if err != nil {
		return errors.New("the first line is no CSV")
	}
	at := map[string]int{}
	for i, name := range names {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	if _, has := at["email"]; !has {
		return errors.New("the first line has no column email")
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line := 0
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			line, err = wrong.Line, errors.New("no CSV with as many fields as the first line")
		} else if err != nil {
			return err
		} else {
			line, _ = r.FieldPos(0)
		}
		u := &importedUser{}
		if err == nil {
			of := func(name string) string {
				if i, has := at[name]; has {
					return record[i]
				}
				return ""
			}
			u = &importedUser{of("email"), of("hash"), of("name"), of("email_verified")}
		}
		if err := f(line, u, err); err != nil {
			return err
		}
	}
}
