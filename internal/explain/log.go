package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/latchkeyhq/latchkey/fault"
)

// longestLine is how much of a line of a log is read. The rest is passed over.
const longestLine = 1 << 20

// Line is a line of a log about one failure. Its texts are untrusted.
type Line struct {
	Detail    fault.Detail
	Reference string
	Type      string
	Error     string
	Time      string
	Provider  string            // its id
	Client    string            // the IP address that the site took for the visitor's
	Limited   int               // how many lines of the log are about a limit, if all have the same Client; else 0
	Facts     map[string]string // of the group facts, without its prefix
}

// crowd counts lines about limits, as long as they have one client.
type crowd struct {
	lines   int
	client  string
	isMixed bool
}

// add counts a line if it is about a limit. Once two counted lines have different
// clients, the count is 0 and stays 0.
func (c *crowd) add(l *Line) {
	if !isAboutLimit(l.Detail) || c.isMixed {
		return
	}
	if c.lines > 0 && l.Client != c.client {
		*c = crowd{isMixed: true}
		return
	}
	c.lines, c.client = c.lines+1, l.Client
}

// isAboutLimit reports whether a failure is about a limit on what visitors do: too many
// requests of a client, or too many mails. LimitStore is none of these.
func isAboutLimit(d fault.Detail) bool { return d == fault.LimitClient || d == fault.LimitMails }

// Search reads a log of slog, JSON or text, to its end and returns the last line about
// the reference code. code may be as a person typed it, see [Codec.Open]; only its
// letters are checked. Search returns nil, nil if there is no such line, and ErrForeign
// for text that cannot be a code. If it cannot read on, it returns that error with the
// last line found until then, without Limited. It reads in bounded memory.
func Search(log io.Reader, code string) (*Line, error) {
	v, ok := unspell(code)
	if !ok {
		return nil, ErrForeign
	}
	want := spell(v)
	var found *Line
	var limited crowd
	in := bufio.NewReaderSize(log, 64<<10)
	for {
		text, err := readLine(in)
		if bytes.Contains(text, []byte(want)) || bytes.Contains(text, []byte("limit.")) {
			if l := parseLine(text); l != nil {
				limited.add(l)
				if l.Reference == want {
					found = l
				}
			}
		}
		if errors.Is(err, io.EOF) {
			if found != nil && isAboutLimit(found.Detail) {
				found.Limited = limited.lines
			}
			return found, nil
		}
		if err != nil {
			return found, err
		}
	}
}

// readLine returns the next line, without its line end. Of a line of more than
// longestLine bytes it returns the beginning, and passes over the rest. Beside an error,
// io.EOF at the end or another, it returns what was read of the last line, maybe nothing.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), longestLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// parseLine reads one line of JSON or of key=value pairs. It returns nil for a line
// without a reference code. It cuts long texts and puts dots in place of control
// characters, so that the texts are fit for a terminal.
func parseLine(text []byte) *Line {
	fields := map[string]string{}
	if at := bytes.IndexByte(text, '{'); at >= 0 && json.Valid(text[at:]) {
		var values map[string]any
		if json.Unmarshal(text[at:], &values) != nil {
			return nil
		}
		flatten(fields, "", values)
	} else {
		pairs(fields, string(text))
	}
	if fields["reference"] == "" {
		return nil
	}
	l := &Line{
		Detail: fault.Detail(shown(fields["detail"])), Reference: shown(fields["reference"]), Type: shown(fields["type"]),
		Error: shown(fields["error"]), Time: shown(fields["time"]),
		Provider: shown(fields["provider"]), Client: shown(fields["client"]), Facts: map[string]string{},
	}
	for name, value := range fields {
		if fact, ok := strings.CutPrefix(name, "facts."); ok {
			l.Facts[shown(fact)] = shown(value)
		}
	}
	return l
}

const (
	mostFields   = 200
	longestShown = 1 << 10
)

// flatten writes the texts, numbers and truth values of an object into a map, until the
// map has mostFields. Those of an object inside get its name and a dot in front. It
// leaves out objects inside that one.
func flatten(into map[string]string, prefix string, values map[string]any) {
	for name, value := range values {
		if len(into) >= mostFields {
			return
		}
		switch v := value.(type) {
		case string:
			into[prefix+name] = v
		case float64:
			into[prefix+name] = strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			into[prefix+name] = strconv.FormatBool(v)
		case map[string]any:
			if prefix == "" { // one level is all that the log writes
				flatten(into, name+".", v)
			}
		}
	}
}

// pairs reads the key=value pairs that slog.TextHandler writes, until into has
// mostFields.
func pairs(into map[string]string, text string) {
	for text != "" && len(into) < mostFields {
		key, rest, ok := strings.Cut(strings.TrimLeft(text, " "), "=")
		if !ok {
			return
		}
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			into[key], _ = strconv.Unquote(quoted)
			text = rest[len(quoted):]
			continue
		}
		into[key], text, _ = strings.Cut(rest, " ")
	}
}

// shown returns text cut to longestShown bytes, with a dot in place of each control or
// invisible character, so that it is fit for a terminal.
func shown(text string) string {
	if len(text) > longestShown {
		text = strings.ToValidUTF8(text[:longestShown], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '.'
		}
		return r
	}, text)
}
