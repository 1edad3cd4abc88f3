package words

import (
	"strings"
	"testing"
)

// in every language the name that a button has for screen readers holds what the
// button shows. The key of the name is that of the button, with ".name" behind it. That of
// account.link is a heading instead: the buttons below it show the names of providers.
func TestNamesHoldWhatButtonsShow(t *testing.T) {
	pairs := 0
	for _, tag := range Tags() {
		for key, name := range All(tag) {
			shown, ok := strings.CutSuffix(key, ".name")
			if !ok || shown == "account.link" || len(Places(name)) == 0 {
				continue
			}
			says := Text(tag, shown)
			if says == "" {
				continue
			}
			pairs++
			if !strings.Contains(strings.ToLower(name), strings.ToLower(says)) {
				t.Errorf("R-795 %s: %s is %q and does not hold %q", tag, key, name, says)
			}
		}
	}
	if pairs < 60 {
		t.Errorf("%d pairs", pairs)
	}
}
