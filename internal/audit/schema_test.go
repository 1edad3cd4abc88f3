package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// property is as much of JSON Schema as docs/audit.schema.json uses.
type property struct {
	Type, Format, Pattern, Description string
	Const                              any
	Enum                               []any
	MaxLength, Minimum                 *float64
}

type schemaFile struct {
	Type       string
	Required   []string
	Properties map[string]property
}

func readSchema(t *testing.T) (s schemaFile) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// faults says what the schema finds wrong with an object.
func (s *schemaFile) faults(row map[string]any) (faults []string) {
	for _, name := range s.Required {
		if row[name] == nil {
			faults = append(faults, name+" is missing")
		}
	}
	for name, value := range row {
		p, known := s.Properties[name]
		if !known {
			faults = append(faults, name+" is not in the schema")
		} else if why := p.fault(value); why != "" {
			faults = append(faults, fmt.Sprintf("%s is %v: %s", name, value, why))
		}
	}
	return faults
}

func (p *property) fault(value any) string {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	_, badTime := time.Parse(time.RFC3339, text)
	switch {
	case p.Const != nil && value != p.Const, p.Enum != nil && !slices.Contains(p.Enum, value):
		return "want one of the listed values"
	case p.Type == "string" && !isText, p.Type == "integer" && (!isNumber || number != float64(int(number))):
		return "want a " + p.Type
	case p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(text):
		return "want " + p.Pattern
	case p.Format == "date-time" && badTime != nil:
		return "want a time"
	case p.MaxLength != nil && float64(len([]rune(text))) > *p.MaxLength, p.Minimum != nil && number < *p.Minimum:
		return "out of bounds"
	}
	return ""
}

// O-023: the lines of the log fit the committed schema, which has every field.
func TestSchema(t *testing.T) {
	s := readSchema(t)
	var ids IDs
	full := event.Event{
		ID: ids.Next(start()), Type: event.SignIn, Outcome: event.Failed, Time: start(), Reason: fault.ErrCredentialsSignin, Detail: fault.SignInWrong,
		Provider: "password", ProviderType: storage.TypeCredentials, UserID: "42", SessionID: "s", By: event.Actor{Kind: event.ActorUser, ID: "42"},
		Client: "192.0.2.7", UserAgent: string(bytes.Repeat([]byte("\x1b"), 1<<10)), RequestID: "r", Tenant: "acme", Reference: "7QM2-9XDK-4T1B",
		Count: 3, Ended: 2, AMR: []string{"pwd", "otp", "mfa"}, ACR: "aal2", Name: NameHash([]byte("key"), "", "ada"), Erased: true,
	}
	bare := event.Event{ID: ids.Next(start()), Type: "app.export", Outcome: event.Succeeded, Time: start(), By: event.Actor{Kind: event.ActorSystem}}
	for what, e := range map[string]event.Event{"full": full, "bare": bare} {
		var out bytes.Buffer
		sink := &Sink{Logger: slog.New(slog.NewJSONHandler(&out, nil)), Now: start, Go: func(f func()) bool { f(); return true }}
		sink.Add(e)
		row := lines(t, &out)[0]
		for _, own := range []string{slog.TimeKey, slog.LevelKey, slog.MessageKey} {
			delete(row, own)
		}
		if faults := s.faults(row); faults != nil {
			t.Errorf("O-023 %s: %q", what, faults)
		}
	}
	var names []string
	for _, a := range AllFields(&event.Event{}) {
		names = append(names, a.Key)
	}
	if inSchema := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(slices.Sorted(slices.Values(names)), inSchema) {
		t.Errorf("O-023 lines have %q, the schema has %q", names, inSchema)
	}
	for name, wrong := range map[string]any{"schema": 2.0, "outcome": "maybe", "id": "1", "count": 0.0, "user": 1.0, "at": "today", "name": "ada", "foreign": "x", "type": nil} {
		row := map[string]any{"schema": 1.0, "at": "2026-11-24T06:00:00Z", "id": full.ID, "type": "sign_in", "outcome": "success", "by": "user"}
		if row[name] = wrong; s.faults(row) == nil {
			t.Errorf("O-023 the schema takes %s %v", name, wrong)
		}
	}
}

// O-026: one name has one hash, under one key and for one tenant.
func TestNameHash(t *testing.T) {
	key := NameKey(nil, "secret")
	one := NameHash(key, "", "Ada@Example.com")
	if one == "" || one != NameHash(key, "", " ada@example.COM ") {
		t.Errorf("O-026 %q", one)
	}
	for what, other := range map[string]string{
		"another name":   NameHash(key, "", "eve@example.com"),
		"another tenant": NameHash(key, "acme", "Ada@Example.com"),
		"another secret": NameHash(NameKey(nil, "other"), "", "Ada@Example.com"),
		"an own key":     NameHash(NameKey([]byte("0123456789abcdef"), "secret"), "", "Ada@Example.com"),
	} {
		if other == one || other == "" {
			t.Errorf("O-026 %s has %q", what, other)
		}
	}
	if got := NameHash(key, "", "  "); got != "" {
		t.Errorf("O-026 no name has %q", got)
	}
}
