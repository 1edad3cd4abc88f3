package wirejson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// Members are written as encoding/json writes a map, but for the reserved names.
func TestAppendExtra(t *testing.T) {
	extra := map[string]any{
		"role": "admin", "html": "</script>", "bad": "a\xffb", "n": 7, "none": nil, "list": []string{"a"}, "map": map[string]any{"b": true},
		"long 1": "1", "long 2": "2", "long 3": "3", "user": "reserved",
	}
	got, err := wirejson.AppendExtra([]byte("{"), extra, []string{"user"})
	if err != nil {
		t.Fatal(err)
	}
	delete(extra, "user")
	plain, err := json.Marshal(extra)
	if err != nil {
		t.Fatal(err)
	}
	var have, want map[string]any
	if err := json.Unmarshal(append(got, '}'), &have); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%s, want %s", got, plain)
	}
	if _, err := wirejson.AppendExtra([]byte("{"), map[string]any{"f": func() {}}, nil); err == nil {
		t.Error("a function became JSON")
	}
}
