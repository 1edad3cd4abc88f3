package otp

import (
	"errors"
	"strconv"

	"rsc.io/qr/coding" // package qr itself would link an encoder of PNG
)

// quiet is the white border of a QR code in modules (ISO/IEC 18004).
const quiet = 4

// SVG returns text as a QR code. The code is an inline SVG image in black on white with
// the border that cameras need. label is the name of the image for screen readers; it is
// escaped. SVG returns an error if text is longer than a QR code can be.
func SVG(text, label string) (string, error) {
	code, err := encode(text)
	if err != nil {
		return "", err
	}
	size := strconv.Itoa(code.Size + 2*quiet)
	b := make([]byte, 0, 12<<10)
	b = append(b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="`...)
	b = appendEscaped(b, label)
	b = append(b, `" viewBox="0 0 `+size+" "+size+`" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h`+size+"v"+size+`H0z"/><path stroke="#000" d="`...)
	for y := range code.Size {
		b = appendRow(b, code, y)
	}
	return string(append(b, `"/></svg>`...)), nil
}

// encode returns text in the smallest QR code that holds it.
func encode(text string) (*coding.Code, error) {
	for v := coding.Version(coding.MinVersion); v <= coding.MaxVersion; v++ {
		if content := coding.String(text); content.Bits(v) <= v.DataBytes(coding.L)*8 {
			plan, err := coding.NewPlan(v, coding.L, 0)
			if err != nil {
				return nil, err
			}
			return plan.Encode(content)
		}
	}
	return nil, errors.New("the text is too long for a QR code")
}

// appendRow appends the black runs of a row as strokes of width one.
func appendRow(b []byte, code *coding.Code, y int) []byte {
	last := -1 // the end of the run before; negative: none in this row
	for x := 0; x < code.Size; x++ {
		if !code.Black(x, y) {
			continue
		}
		end := x
		for end < code.Size && code.Black(end, y) {
			end++
		}
		if last < 0 {
			b = append(b, 'M')
			b = strconv.AppendInt(b, int64(x+quiet), 10)
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(y+quiet), 10)
			b = append(b, ".5"...)
		} else {
			b = append(b, 'm')
			b = strconv.AppendInt(b, int64(x-last), 10)
			b = append(b, " 0"...)
		}
		b = append(b, 'h')
		b = strconv.AppendInt(b, int64(end-x), 10)
		last, x = end, end
	}
	return b
}

func appendEscaped(b []byte, text string) []byte {
	for _, r := range text {
		switch r {
		case '"', '&', '<', '>', '\'':
			b = append(b, "&#"+strconv.Itoa(int(r))+";"...)
		default:
			b = append(b, string(r)...)
		}
	}
	return b
}
