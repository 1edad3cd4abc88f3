package page

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// rgb is an opaque colour in sRGB.
type rgb struct{ r, g, b uint8 }

var (
	white = rgb{255, 255, 255}
	soot  = rgb{0x11, 0x13, 0x18} // black that does not glare
	black = rgb{}
)

// String returns c as #rrggbb.
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

var errColor = errors.New("not an opaque CSS colour: write #rgb, #rrggbb, rgb(), hsl() or a colour name")

// parseColor parses a CSS colour as # and digits, a name, or three values in rgb() or hsl().
// It returns errColor for any other text, which could break the style sheet. It returns
// errColor too unless the colour is opaque, so that its contrast can be computed.
func parseColor(s string) (rgb, error) {
	s = strings.ToLower(s)
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(hex)
	}
	name, args, call := strings.Cut(s, "(")
	if !call {
		return named(s)
	}
	args, closed := strings.CutSuffix(args, ")")
	parts := strings.FieldsFunc(args, func(c rune) bool { return c == ',' || c == ' ' })
	if !closed || len(parts) != 3 {
		return rgb{}, errColor
	}
	switch name {
	case "rgb", "rgba":
		return parseRGB(parts)
	case "hsl", "hsla":
		return parseHSL(parts)
	}
	return rgb{}, errColor
}

// parseHex parses 3, 4, 6 or 8 hexadecimal digits. It returns errColor for any other text,
// and for an alpha channel that is not full.
func parseHex(hex string) (rgb, error) {
	switch len(hex) {
	case 3, 4:
		var long strings.Builder
		for _, c := range []byte(hex) {
			long.Write([]byte{c, c})
		}
		hex = long.String()
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	switch {
	case err != nil:
		return rgb{}, errColor
	case len(hex) == 8 && n&0xff == 0xff:
		n >>= 8
	case len(hex) != 6:
		return rgb{}, errColor
	}
	return rgb{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

// parseRGB returns the colour of three parts, numbers from 0 to 255 or percentages. It
// returns errColor for any other.
func parseRGB(parts []string) (rgb, error) {
	var out [3]uint8
	for i, part := range parts {
		full := 255.0
		part, percent := strings.CutSuffix(part, "%")
		if percent {
			full = 100
		}
		v, err := number(part, full)
		if err != nil {
			return rgb{}, err
		}
		out[i] = channel(v / full)
	}
	return rgb{out[0], out[1], out[2]}, nil
}

// parseHSL returns the colour of three parts, a hue from 0 to 360 degrees and two
// percentages. It returns errColor for any other.
func parseHSL(parts []string) (rgb, error) {
	h, errH := number(strings.TrimSuffix(parts[0], "deg"), 360)
	s, errS := number(strings.TrimSuffix(parts[1], "%"), 100)
	l, errL := number(strings.TrimSuffix(parts[2], "%"), 100)
	if err := errors.Join(errH, errS, errL); err != nil {
		return rgb{}, errColor
	}
	s, l = s/100, l/100
	// CSS Color 4, section 7.1.
	at := func(n float64) uint8 {
		k := math.Mod(n+h/30, 12)
		return channel(l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))
	}
	return rgb{at(0), at(8), at(4)}, nil
}

// number parses plain decimal digits, possibly with a point, of a value from 0 to most.
// It returns errColor for a larger one and for the other notations that strconv accepts.
func number(s string, most float64) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, errColor
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v > most {
		return 0, errColor
	}
	return v, nil
}

// channel converts a share, limited to 0 to 1, to the range from 0 to 255.
func channel(v float64) uint8 { return uint8(math.Round(255 * max(0, min(1, v)))) }

// luminance returns the relative luminance of WCAG 2.2.
func (c rgb) luminance() float64 {
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// linear returns the linear value, from 0 to 1, of a channel of sRGB.
func linear(v uint8) float64 {
	s := float64(v) / 255
	if s <= 0.04045 {
		return s / 12.92
	}
	return math.Pow((s+0.055)/1.055, 2.4)
}

// contrast returns the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// textOn returns the text colour for a ground: the first of white, soot and black
// with a contrast of 4.5. White or black reaches that on any ground.
func textOn(ground rgb) rgb {
	switch {
	case contrast(white, ground) >= 4.5:
		return white
	case contrast(soot, ground) >= 4.5:
		return soot
	}
	return black
}

// mix returns a colour between from and to. A share of 0 returns from, 1
// returns to.
func mix(from, to rgb, share float64) rgb {
	blend := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return rgb{blend(from.r, to.r), blend(from.g, to.g), blend(from.b, to.b)}
}

// readable returns a colour whose contrast with ground is at least 4.5: c, moved towards
// ink by as few steps as that takes. If no step reaches that, it returns ink.
func readable(c, ground, ink rgb) rgb {
	const steps = 20
	for i := range steps {
		if moved := mix(c, ink, float64(i)/steps); contrast(moved, ground) >= 4.5 {
			return moved
		}
	}
	return ink
}
