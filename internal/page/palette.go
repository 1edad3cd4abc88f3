package page

import "strings"

// shade is a colour of the pages in its two schemes. Each pair that meets on a
// page keeps the contrast of WCAG 2.2 level AA.
type shade struct{ token, light, dark string }

var shades = []shade{
	{"page", "#f4f5f7", "#0d0f13"},
	{"card", "#ffffff", "#16191f"},
	{"field", "#ffffff", "#101318"},
	{"hover", "#f3f4f7", "#20242c"},
	{"ink", "#15181e", "#eceef2"},
	{"soft", "#565d6b", "#a3aab7"}, // of lesser text
	{"line", "#e3e6eb", "#2a2f38"}, // separates sections, and carries no meaning
	{"rim", "#ccd1d9", "#3a404b"},  // around buttons whose words say what they are
	{"edge", "#868e9c", "#6f7785"}, // around inputs, which nothing else shows
	{"alert", "#fdf1f0", "#2d1717"},
	{"alert-line", "#f1c8c4", "#5a2a28"},
	{"alert-ink", "#8c1d18", "#ffb4ab"},
	{"done", "#eff8f2", "#12251a"},
	{"done-line", "#c2e3cd", "#24502f"},
	{"done-ink", "#17603a", "#8fdcab"},
	{"tag", "#e9f5ed", "#173022"},
	{"tag-ink", "#17603a", "#8fdcab"},
	{"warn", "#b3261e", "#ff9d94"},
	{"danger", "#b3261e", "#d23b33"},
	{"danger-hover", "#981f18", "#bf322b"},
	{"on-danger", "#ffffff", "#ffffff"},
	{"shade", "rgb(21 24 30/.07)", "rgb(0 0 0/.4)"},
}

// defaultAccent is the accent of a theme without a brand colour.
var defaultAccent = shade{"accent", "#3056d3", "#8ba3ff"}

// in returns the value in the dark scheme, or in the light one.
func (s shade) in(dark bool) string {
	if dark {
		return s.dark
	}
	return s.light
}

// ground returns the colour called token in one scheme. token must be in shades.
func ground(token string, dark bool) rgb {
	for _, s := range shades {
		if s.token == token {
			c, _ := parseColor(s.in(dark))
			return c
		}
	}
	return white
}

// themeTokens returns the CSS rule with the operator's own colours, under the names that
// custom style sheets use. The colours must be valid, because they are not escaped.
func themeTokens(t Theme) string {
	var b strings.Builder
	b.WriteString(":root{")
	if t.BrandColor != "" {
		b.WriteString("--brand-color: " + t.BrandColor + ";")
	}
	if t.ButtonText != "" {
		b.WriteString("--button-text-color: " + t.ButtonText + ";")
	}
	b.WriteString("}")
	return b.String()
}

// schemeTokens returns the CSS rules with the colours of one scheme, or of
// both and the media query for the dark one.
func schemeTokens(scheme string, brand *rgb, ownText bool) string {
	switch scheme {
	case "light":
		return ":root{color-scheme:light;" + tokens(false, brand, ownText) + "}"
	case "dark":
		return ":root{color-scheme:dark;" + tokens(true, brand, ownText) + "}"
	}
	return ":root{color-scheme:light dark;" + tokens(false, brand, ownText) + "}" +
		"@media (prefers-color-scheme:dark){:root{" + tokens(true, brand, ownText) + "}}"
}

// tokens returns the declarations of the colours of one scheme. ownText says that the
// operator chose the text colour of buttons.
func tokens(dark bool, brand *rgb, ownText bool) string {
	var b strings.Builder
	set := func(token, value string) { b.WriteString("--" + token + ":" + value + ";") }
	for _, s := range shades {
		set(s.token, s.in(dark))
	}
	a := newAccent(dark, brand)
	set("accent", a.value)
	set("accent-hover", a.hover.String())
	set("accent-rim", a.rim)
	set("link", a.link.String())
	if ownText {
		set("on-accent", "var(--button-text-color)")
	} else {
		set("on-accent", a.text.String())
	}
	return b.String()
}

// accent has the colours that follow from the brand colour in one scheme.
type accent struct {
	value string // as the style sheet writes it
	rim   string // around the main button
	base  rgb
	text  rgb // on base, unless the operator chose another
	hover rgb // a little further from text, so that contrast only grows
	link  rgb // base, or as near as text on the card can be read
}

// newAccent returns the colours that follow from brand, or from the default if it is
// nil.
func newAccent(dark bool, brand *rgb) accent {
	a := accent{value: "var(--brand-color)", rim: "transparent"}
	if brand != nil {
		a.base = *brand
	} else {
		a.value = defaultAccent.in(dark)
		a.base, _ = parseColor(a.value)
	}
	card := ground("card", dark)
	if contrast(a.base, card) < 3 {
		a.rim = "var(--edge)" // else the button would be words without a shape
	}
	a.text = textOn(a.base)
	away := white
	if a.text == white {
		away = black
	}
	a.hover = mix(a.base, away, 0.12)
	a.link = readable(a.base, card, ground("ink", dark))
	return a
}
