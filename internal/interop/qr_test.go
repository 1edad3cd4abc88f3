package interop

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/latchkeyhq/latchkey/internal/otp"
)

// TestQRCodesAreRead has a decoder of others read the images: F-032. The images are
// drawn from their SVG, as a browser would.
func TestQRCodesAreRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		secret := make([]byte, otp.SecretLen)
		for i := range secret {
			secret[i] = byte(random.Uint32())
		}
		uri := otp.URI(randomText(random, 100), randomText(random, 120), secret)
		svg, err := otp.SVG(uri, "code")
		if err != nil {
			t.Fatal(err)
		}
		bitmap, err := gozxing.NewBinaryBitmapFromImage(draw(t, svg, 4))
		if err != nil {
			t.Fatal(err)
		}
		read, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
		if err != nil {
			t.Fatalf("F-032 %s: %v", uri, err)
		}
		if read.GetText() != uri {
			t.Errorf("F-032 read %q, want %q", read.GetText(), uri)
		}
	}
}

// randomText returns up to most letters of several scripts.
func randomText(random *rand.Rand, most int) string {
	letters := []rune("abcdefghij KLMNOP 0123456789@.-+&%äöüßж日🙂")
	text := make([]rune, 1+random.IntN(most))
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return "a" + string(text)
}

// draw draws the image of a QR code with scale pixels a module.
func draw(t *testing.T, svg string, scale int) image.Image {
	t.Helper()
	var read struct {
		ViewBox string `xml:"viewBox,attr"`
		Paths   []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(svg), &read); err != nil {
		t.Fatal(err)
	}
	var size int
	if _, err := fmt.Sscanf(read.ViewBox, "0 0 %d %d", &size, &size); err != nil || len(read.Paths) != 2 {
		t.Fatalf("%v: %.200s", err, svg)
	}
	img := image.NewGray(image.Rect(0, 0, size*scale, size*scale))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	x, y := 0, 0
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	path := strings.NewReplacer("M", "\nM ", "m", "\nm ", "h", "\nh ").Replace(read.Paths[1].D)
	for step := range strings.SplitSeq(strings.TrimSpace(path), "\n") {
		switch words := strings.Fields(step); words[0] {
		case "M":
			x, y = number(words[1]), number(strings.TrimSuffix(words[2], ".5"))
		case "m":
			x += number(words[1])
		case "h":
			for end := x + number(words[1]); x < end; x++ {
				for at := range scale * scale {
					img.SetGray(x*scale+at%scale, y*scale+at/scale, color.Gray{})
				}
			}
		}
	}
	return img
}
