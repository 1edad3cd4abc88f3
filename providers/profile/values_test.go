package profile_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/latchkeyhq/latchkey/providers/profile"
)

func TestFlag(t *testing.T) {
	for text, want := range map[string]string{
		"true": "true", `"true"`: "true", "1": "true", `"1"`: "true",
		"false": "false", `"false"`: "false", "0": "false", `"0"`: "false", `""`: "false", "null": "false",
		"2": "error", `"yes"`: "error", "[]": "error", "{}": "error",
	} {
		var f profile.Flag
		got := ""
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			got = "error"
		} else {
			got = fmt.Sprint(f)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestStringList(t *testing.T) {
	for text, want := range map[string]string{`"a"`: "[a]", `["a","b"]`: "[a b]", "[]": "[]", "null": "[]", "7": "error", `[7]`: "error"} {
		var l profile.StringList
		got := ""
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			got = "error"
		} else {
			got = fmt.Sprint(l)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func FuzzProfileTypes(f *testing.F) {
	for _, seed := range []string{"{}", "null", `{"aud":"a","xms_edov":1}`, `{"aud":["a"],"groups":"g","pwd_exp":"1"}`, `{"email_verified":"true"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var entra profile.Entra
		if json.Unmarshal(data, &entra) != nil {
			return
		}
		if _, err := json.Marshal(entra); err != nil {
			t.Error(err)
		}
	})
}
