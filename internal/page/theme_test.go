package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestTheme(t *testing.T) {
	r := mustNew(t, Options{Theme: Theme{ColorScheme: "dark", Logo: "https://static.example/logo.png", BrandColor: "#ff6600", ButtonText: "#112233"}})
	for _, s := range everyPage {
		p, err := s.page(r)
		doc := mustParse(t, p, err)
		if got := one(t, doc, "body").attr("class"); got != "__next-auth-theme-dark" {
			t.Errorf("%s: class %q", s.name, got)
		}
		style := one(t, doc, "style").kids[0].text
		if !strings.Contains(style, "--brand-color: #ff6600") || !strings.Contains(style, "--button-text-color: #112233") {
			t.Errorf("%s: colours are missing in %.200s", s.name, style)
		}
		if s.name == "confirm" || s.name == "invite" || strings.HasPrefix(s.name, "lost-") {
			if len(doc.all("img")) != 0 || strings.Contains(p.Policy, "static.example") {
				t.Error("R-139 the confirmation page asks another site for the logo")
			}
			continue
		}
		if img := one(t, doc, "img"); img.attr("src") != "https://static.example/logo.png" || !img.has("alt") {
			t.Errorf("%s: logo %v", s.name, img.attrs)
		}
		if !strings.Contains(p.Policy, "img-src 'self' https://static.example data:;") {
			t.Errorf("R-206 %s: policy %q", s.name, p.Policy)
		}
	}
}

func TestOwnLogoIsOnTheConfirmationPage(t *testing.T) {
	for logo, want := range map[string]string{"/logo.svg": "img-src 'self' data:;", "data:image/png;base64,AAAA": "img-src 'self' data:;"} {
		p, err := mustNew(t, Options{Theme: Theme{Logo: logo}}).Confirm(Confirm{})
		if got := one(t, mustParse(t, p, err), "img").attr("src"); got != logo || !strings.Contains(p.Policy, want) {
			t.Errorf("logo %q, policy %q", got, p.Policy)
		}
	}
}

func TestThemeErrors(t *testing.T) {
	for _, test := range []struct {
		theme Theme
		want  string
	}{
		{Theme{ColorScheme: "sepia"}, "Theme.ColorScheme"},
		{Theme{BrandColor: "red;}*{display:none"}, "Theme.BrandColor"},
		{Theme{BrandColor: "</style><script>"}, "Theme.BrandColor"},
		{Theme{BrandColor: "url(https://evil.example)"}, "Theme.BrandColor"},
		{Theme{BrandColor: "var(--x)"}, "Theme.BrandColor"},
		{Theme{BrandColor: "rgb(0 0 0 / 50%)"}, "Theme.BrandColor"},
		{Theme{ButtonText: "rubber"}, "Theme.ButtonText"},
		{Theme{Logo: "javascript:alert(1)"}, "Theme.Logo"},
		{Theme{Logo: "data:text/html;base64,AAAA"}, "Theme.Logo"},
		{Theme{Logo: "//evil.example/x.png"}, "Theme.Logo"},
		{Theme{Logo: `/\evil.example`}, "Theme.Logo"},
		{Theme{Logo: "logo.png"}, "Theme.Logo"},
		{Theme{Logo: "https:"}, "Theme.Logo"},
		{Theme{Logo: "https://a.example; script-src *"}, "Theme.Logo"},
		{Theme{Icon: "javascript:alert(1)"}, "Theme.Icon"},
		{Theme{Icon: "https://a.example/icon.png"}, "Theme.Icon"},
	} {
		if _, err := New(Options{Theme: test.theme}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one that names %s", test.theme, err, test.want)
		}
	}
	_, err := New(Options{Theme: Theme{BrandColor: "?", ButtonText: "?"}, Languages: []string{"?"}})
	for _, want := range []string{"BrandColor", "ButtonText", "Languages"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
}

func TestParseColor(t *testing.T) {
	for in, want := range map[string]string{
		"#fff": "#ffffff", "#F60": "#ff6600", "#ff6600": "#ff6600", "#ff6600ff": "#ff6600", "#f60f": "#ff6600",
		"rgb(255, 102, 0)": "#ff6600", "rgb(255 102 0)": "#ff6600", "rgba(100%,40%,0%)": "#ff6600",
		"hsl(24, 100%, 50%)": "#ff6600", "hsl(24deg 100% 50%)": "#ff6600", "HSL(0 0% 100%)": "#ffffff", "hsl(240 100% 25%)": "#000080",
		"red": "#ff0000", "RebeccaPurple": "#663399", "aliceblue": "#f0f8ff", "yellowgreen": "#9acd32",
		"": "", "#": "", "#ff": "", "#fffff": "", "#ff660080": "", "#f608": "", "#gggggg": "", "#+fffff": "", "ff6600": "", "re": "", "red#ff0000": "",
		" red": "", "transparent": "", "rgb(1,2)": "", "rgb(1,2,3,4)": "", "rgb(1,2,256)": "", "rgb(-1,2,3)": "", "rgb(1e2,2,3)": "",
		"rgb(0x1,2,3)": "", "rgb(NaN,2,3)": "", "rgb(1,2,3": "", "rgb(1,2,3));": "", "rgb(..,1,1)": "", "lab(1 2 3)": "", "hsl(400,1%,1%)": "",
	} {
		got, err := parseColor(in)
		if (err != nil) != (want == "") || (err == nil && got.String() != want) {
			t.Errorf("%q: %v, %v; want %q", in, got, err, want)
		}
	}
}

// Text meets every ground it is shown on with 4.5, and what shows a control
// with 3.
func TestContrast(t *testing.T) {
	for _, dark := range []bool{false, true} {
		for _, pair := range []struct {
			over, under string
			least       float64
		}{
			{"ink", "card", 4.5},
			{"ink", "hover", 4.5},
			{"ink", "field", 4.5},
			{"soft", "card", 4.5},
			{"soft", "field", 4.5},
			{"alert-ink", "alert", 4.5},
			{"done-ink", "done", 4.5},
			{"tag-ink", "tag", 4.5},
			{"warn", "card", 4.5},
			{"warn", "hover", 4.5},
			{"on-danger", "danger", 4.5},
			{"on-danger", "danger-hover", 4.5},
			{"edge", "card", 3},
			{"edge", "field", 3},
			{"danger", "card", 3},
		} {
			if got := contrast(ground(pair.over, dark), ground(pair.under, dark)); got < pair.least {
				t.Errorf("dark %v: %s on %s has %.2f, want %v", dark, pair.over, pair.under, got, pair.least)
			}
		}
	}
	for _, tile := range tiles {
		if got := contrast(textOn(tile), tile); got < 4.5 {
			t.Errorf("tile %v: %.2f", tile, got)
		}
	}
}

func TestAnyBrandColorIsReadable(t *testing.T) {
	for _, dark := range []bool{false, true} {
		check(t, dark, nil)
		for n := range 9 * 9 * 9 {
			step := func(k int) uint8 { return uint8(min(255, k%9*32)) }
			check(t, dark, &rgb{step(n), step(n / 9), step(n / 81)})
		}
	}
}

func check(t *testing.T, dark bool, brand *rgb) {
	t.Helper()
	a := newAccent(dark, brand)
	card := ground("card", dark)
	if got := contrast(a.text, a.base); got < 4.5 {
		t.Errorf("dark %v, %v: text on the button has %.2f", dark, a.base, got)
	}
	if got := contrast(a.text, a.hover); got < 4.5 {
		t.Errorf("dark %v, %v: text on the hovered button has %.2f", dark, a.base, got)
	}
	if got := contrast(a.link, card); got < 4.5 {
		t.Errorf("dark %v, %v: links have %.2f", dark, a.base, got)
	}
	if contrast(a.base, card) < 3 && a.rim == "transparent" {
		t.Errorf("dark %v, %v: the button has no shape", dark, a.base)
	}
}

func TestColorSchemes(t *testing.T) {
	for scheme, want := range map[string]struct{ class, has, hasNot string }{
		"":      {"auto", "prefers-color-scheme:dark", "color-scheme:dark;"},
		"auto":  {"auto", "color-scheme:light dark;", "color-scheme:dark;"},
		"light": {"light", "color-scheme:light;", "prefers-color-scheme"},
		"dark":  {"dark", "color-scheme:dark;", "prefers-color-scheme"},
	} {
		l, err := newLook(Theme{ColorScheme: scheme})
		if err != nil || l.scheme != want.class || !strings.Contains(l.style, want.has) || strings.Contains(l.style, want.hasNot) {
			t.Errorf("%q: %v, class %q, style %.300s", scheme, err, l.scheme, l.style)
		}
	}
}

// Every token that the style uses is set, and every one that is set is used.
func TestStyleTokens(t *testing.T) {
	l, err := newLook(Theme{BrandColor: "red", ButtonText: "white"})
	if err != nil {
		t.Fatal(err)
	}
	sets, uses := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(--[a-z-]+):`).FindAllStringSubmatch(l.style, -1) {
		sets[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)\)`).FindAllStringSubmatch(l.style, -1) {
		uses[m[1]] = true
	}
	if a, b := fmt.Sprint(sets), fmt.Sprint(uses); a != b {
		t.Errorf("set  %s\nused %s", a, b)
	}
	if strings.Contains(l.style, "/*") || strings.Contains(l.style, "\n") || strings.Contains(l.style, "<") {
		t.Error("the style holds a comment, a line break or <")
	}
}

// The style fits both directions of writing: it names no side.
func TestStyleNamesNoSide(t *testing.T) {
	sides := regexp.MustCompile(`[^-](margin|padding|border)-(left|right)|text-align:(left|right)|[;{](left|right|width|height):|@import|url\(`)
	if found := sides.FindString(styleSheet); found != "" {
		t.Errorf("the style says %q", found)
	}
}
