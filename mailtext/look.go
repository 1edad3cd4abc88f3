package mailtext

import (
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// shades are the colours of backgrounds (Page, Card) and texts (Ink, Soft) of one scheme.
type shades struct{ Page, Card, Ink, Soft template.CSS }

var (
	light = shades{"#f4f5f7", "#ffffff", "#15181e", "#565d6b"}
	dark  = shades{"#0d0f13", "#16191f", "#eceef2", "#a3aab7"}
)

const (
	blue  = "#3056d3" // of a theme without a BrandColor
	soot  = "#15181e"
	black = "#000000"
	white = "#ffffff"
)

// look holds the colours of a theme as values that are safe in a style attribute. Mail
// programs drop style sheets and know no variables, hence one colour per place.
type look struct {
	shades
	Dark                    *shades // for readers whose system is dark; nil: the scheme is fixed
	Schemes                 string
	Button, ButtonText, Rim template.CSS
}

// newLook returns the look of a theme. A missing or malformed BrandColor becomes blue. For a
// missing or malformed ButtonText it chooses a colour that is readable on BrandColor. If the
// brightness of BrandColor is unknown then, the button is white, and its rim has BrandColor.
func newLook(t latchkey.Theme) look {
	l := look{shades: light, Schemes: t.ColorScheme}
	switch t.ColorScheme {
	case "light":
	case "dark":
		l.shades = dark
	default:
		l.Dark, l.Schemes = &dark, "light dark"
	}
	l.Button = safe(t.BrandColor, blue)
	l.Rim = l.Button
	if l.ButtonText = safe(t.ButtonText, ""); l.ButtonText == "" {
		l.Button, l.ButtonText = readable(l.Button)
	}
	return l
}

// colour admits the notations of CSS colours and nothing that could end a
// declaration, open another or load anything.
var colour = regexp.MustCompile(`^(#[0-9a-fA-F]{3,8}|[a-zA-Z]{1,32}|(rgb|hsl)a?\([0-9., %deg]{1,40}\))$`)

// safe returns c if it has the notation of a CSS colour, so that it cannot end a
// declaration or load anything; a word need not be the name of a colour. Else it returns
// otherwise, which is not checked.
func safe(c, otherwise string) template.CSS {
	if !colour.MatchString(c) {
		c = otherwise
	}
	return template.CSS(c)
}

// readable returns the colours of a button and its text: the ground with white text, or
// with black text if white has too little contrast. If the notation of a colour does not
// tell its brightness, it returns dark text on white, and the rim keeps the colour.
func readable(ground template.CSS) (button, text template.CSS) {
	bright, known := luminance(string(ground))
	switch {
	case !known:
		return white, soot
	case 1.05/(bright+0.05) >= 4.5: // WCAG 2.2, contrast with white
		return ground, white
	}
	return ground, black // which reads on whatever white does not
}

// luminance returns the relative luminance of WCAG 2.2, between 0 and 1, of a colour in
// the notation #rgb, #rrggbb or rgb(). It returns false for any other notation.
func luminance(c string) (float64, bool) {
	channels, ok := channels(c)
	if !ok {
		return 0, false
	}
	var linear [3]float64
	for i, v := range channels {
		s := float64(v) / 255
		if linear[i] = s / 12.92; s > 0.04045 {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2], true
}

// channels returns red, green and blue of a colour that safe lets through, in the
// notation #rgb, #rrggbb or rgb() with whole numbers. It returns false for any other
// colour; out then means nothing. For text that safe refuses it may return true.
func channels(c string) (out [3]uint8, ok bool) {
	base, parts := 10, strings.FieldsFunc(strings.TrimSuffix(strings.TrimPrefix(c, "rgb("), ")"), func(r rune) bool { return r == ',' || r == ' ' })
	if hex, is := strings.CutPrefix(c, "#"); is {
		base, parts = 16, hexParts(hex)
	}
	if len(parts) != len(out) {
		return out, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, base, 8)
		if err != nil {
			return out, false
		}
		out[i] = uint8(n)
	}
	return out, true
}

// hexParts returns the three parts of rgb or rrggbb, two digits each, or nil for any
// other length.
func hexParts(hex string) []string {
	switch len(hex) {
	case 3:
		return []string{hex[:1] + hex[:1], hex[1:2] + hex[1:2], hex[2:] + hex[2:]}
	case 6:
		return []string{hex[:2], hex[2:4], hex[4:]}
	}
	return nil
}
