package people

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestEveryFieldIsDecided: P-038, each field of a record is exported, or left out for a
// reason.
func TestEveryFieldIsDecided(t *testing.T) {
	for record, names := range exported {
		for i := range record.NumField() {
			f := record.Field(i)
			if !f.IsExported() {
				continue
			}
			_, kept := names[f.Name]
			reason := left[record][f.Name]
			if kept == (reason != "") {
				t.Errorf("P-038 %v.%s is exported: %v, left out because %q", record, f.Name, kept, reason)
			}
		}
		for name := range names {
			if _, has := record.FieldByName(name); !has {
				t.Errorf("%v has no field %s", record, name)
			}
		}
	}
	if len(exported) != len(left) || !reflect.DeepEqual(keysOf(exported), keysOf(left)) {
		t.Error("the lists are about different records")
	}
}

func keysOf(m map[reflect.Type]map[string]string) map[reflect.Type]bool {
	keys := map[reflect.Type]bool{}
	for k := range m {
		keys[k] = true
	}
	return keys
}

// failing takes some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestDocumentThatFails: P-039, an export that breaks off looks whole to no reader.
func TestDocumentThatFails(t *testing.T) {
	d := NewDocument(&failing{20})
	d.Part("user", map[string]string{"name": "Ada Lovelace"})
	d.Part("accounts", []string{})
	if err := d.End(); !errors.Is(err, errFull) {
		t.Errorf("P-039 %v", err)
	}
	var b strings.Builder
	d = NewDocument(&b)
	d.Part("user", map[string]string{"name": "Ada"})
	d.Part("more", func() {})
	if err := d.End(); err == nil || strings.HasSuffix(strings.TrimSpace(b.String()), "}}") {
		t.Errorf("P-039 %v, %s", err, b.String())
	}
}
