package people

import (
	"strings"
	"testing"
)

// P-036: neither a name nor the URL of a picture can deceive whoever sees it.
func TestFieldsThatDeceive(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "Ada Lovelace": true, "<b>Ada</b>": true, "عائشة": true, strings.Repeat("é", LongestName): true,
		"a\x00b": false, "a\nb": false, "a\u2028b": false, "Ann\u202eeel": false, "a\u2066b": false, "\xff": false, "  ": false, strings.Repeat("é", LongestName+1): false,
	} {
		if err := CheckName(text); (err == nil) != want {
			t.Errorf("P-036 the name %.20q: %v", text, err)
		}
	}
	for text, want := range map[string]bool{
		"": true, "https://p.example/a.png": true, "http://p.example/a.png?size=2": true,
		"javascript:alert(1)": false, "data:image/png;base64,AA": false, "//p.example/a.png": false, "/a.png": false, "https:///a.png": false,
		"https://ada@p.example/a.png": false, "https://p.example/\u202ea.png": false, "https://p.example/" + strings.Repeat("a", LongestImage): false,
	} {
		if err := CheckImage(text); (err == nil) != want {
			t.Errorf("P-036 the picture %.30q: %v", text, err)
		}
	}
}
