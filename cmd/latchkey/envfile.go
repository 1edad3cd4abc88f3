package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// readEnvFile reads a file of NAME=value lines, as shells and dotenv libraries have them.
// It skips a line of another form. Its errors wrap those of package os, such as
// fs.ErrNotExist.
func readEnvFile(name string) (environment, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fileError(err)
	}
	return parseEnv(string(content)), nil
}

// parseEnv returns the variables of lines of the form [export] NAME=value. Values may be
// in single or double quotes; \n, \", \\ and \$ are resolved in double ones. It skips all
// other lines, such as comments. It substitutes nothing and runs nothing.
func parseEnv(content string) environment {
	var e environment
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); ok && isVariable(name) {
			e = append(e, name+"="+envValue(strings.TrimSpace(value)))
		}
	}
	return e
}

// isVariable reports whether a text can be the name of a variable.
func isVariable(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// envValue returns a value without its quotes, or without a comment behind it.
func envValue(text string) string {
	for _, quote := range []string{"'", `"`} {
		if inner, ok := strings.CutPrefix(text, quote); ok {
			return unquote(inner, quote)
		}
	}
	for _, mark := range []string{" #", "\t#"} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimSpace(text)
}

// unquote returns text up to the closing quote, or all of it without one. It resolves
// escapes if quote is a double one.
func unquote(text, quote string) string {
	if quote == "'" {
		text, _, _ = strings.Cut(text, quote)
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
				continue
			case '"', '\\', '$':
			default:
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// appendLine adds a line at the end of a file. What is there stays: the file is not
// rewritten. It makes a file that does not exist, which only its owner may read. It
// returns an error for a file that all users may read or change.
func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fileError(err)
	}
	if err := checkPrivate(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if !endsLine(f) {
		line = "\n" + line
	}
	_, err = f.WriteString(line + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return fileError(err)
	}
	return nil
}

// checkPrivate returns an error if f is a regular file that every user of the machine may
// open. On Windows it returns nil for any file, since the mode does not tell it there.
func checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fileError(err)
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.IsRegular() && mode.Perm()&0o007 != 0 {
		return fmt.Errorf("%s: every user of this machine may open it (mode %04o): run chmod 600 %s first", f.Name(), mode.Perm(), f.Name())
	}
	return nil
}

// endsLine reports whether a file ends in a newline, is empty, or cannot be examined.
func endsLine(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true
	}
	last := []byte{'\n'}
	_, _ = f.ReadAt(last, info.Size()-1)
	return last[0] == '\n'
}

// fileError returns an error with the name of the file and the cause, without the name of
// the system call. It wraps the cause.
func fileError(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", failed.Path, failed.Err)
	}
	return err
}
