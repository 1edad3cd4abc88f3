package page

import (
	"encoding/base64"
	"hash/fnv"
	"html/template"
	"strings"
	"unicode"
)

// mark returns the picture on a provider's button. That is its icon, or its
// mark, or the icon of its type, or its initial on a coloured tile. All of
// them are part of the page, so that no other site learns that the user is
// about to sign in.
func mark(p Provider) template.HTML {
	for _, name := range []string{p.Icon, p.ID} {
		if drawing, ok := drawings[name]; ok {
			return icon(drawing)
		}
	}
	if isPath(p.Mark) {
		return tiled(p, func(ink rgb) string {
			return `<path transform="translate(4 4)scale(.66667)" fill="` + ink.String() + `" d="` + p.Mark + `"/>`
		})
	}
	if drawing, ok := drawings[p.Type]; ok {
		return icon(drawing)
	}
	return initial(p)
}

// longestMark bounds the path data of a provider, in bytes.
const longestMark = 4 << 10

// isPath reports whether text begins like path data (SVG 2, section 9.3), is not
// too long and has only characters of path data. None of these has a meaning in
// markup.
func isPath(text string) bool {
	const alphabet = "MmZzLlHhVvCcSsQqTtAa0123456789+-., eE"
	return text != "" && len(text) <= longestMark && (text[0] == 'M' || text[0] == 'm') &&
		!strings.ContainsFunc(text, func(c rune) bool { return !strings.ContainsRune(alphabet, c) })
}

// icon wraps a drawing of 24 by 24 units, markup that is not escaped. The result is
// hidden from assistive technology, which reads the button's words instead.
func icon(drawing string) template.HTML {
	return template.HTML(`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true">` + drawing + `</svg>`)
}

// keyhole returns the default icon for the browser's tab, on the colour brand or, if
// that is nil, on the default one. It is a data URL that needs no request.
func keyhole(brand *rgb) template.URL {
	ground, _ := parseColor(defaultAccent.light)
	if brand != nil {
		ground = *brand
	}
	drawing := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="` + ground.String() +
		`"/><path fill="` + textOn(ground).String() + `" d="M12 5a4 4 0 0 1 1.9 7.5L15.2 19H8.8l1.3-6.5A4 4 0 0 1 12 5z"/></svg>`
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(drawing)))
}

// tiles are grounds for marks and initials of providers without a brand colour.
var tiles = []rgb{
	{0x3b, 0x5b, 0xdb},
	{0x7a, 0x3f, 0xc4},
	{0xb0, 0x34, 0x7a},
	{0xb2, 0x40, 0x2d},
	{0x8a, 0x5a, 0x00},
	{0x2f, 0x70, 0x3a},
	{0x0b, 0x71, 0x7d},
	{0x4a, 0x55, 0x68},
}

// initial returns the first letter of a provider's name on a tile.
func initial(p Provider) template.HTML {
	return tiled(p, func(ink rgb) string {
		return `<text x="12" y="16.6" text-anchor="middle" fill="` + ink.String() + `">` + string(firstLetter(p.Label())) + `</text>`
	})
}

// tiled returns a drawing on a tile. The tile has the colour p.Brand, or one chosen by p.ID
// if Brand is no colour. tiled calls drawing with the ink that can be read on the tile.
func tiled(p Provider, drawing func(ink rgb) string) template.HTML {
	tile, err := parseColor(p.Brand)
	if err != nil {
		sum := fnv.New32a()
		sum.Write([]byte(p.ID))
		tile = tiles[sum.Sum32()%uint32(len(tiles))]
	}
	return icon(`<rect width="24" height="24" rx="6" fill="` + tile.String() + `"/>` + drawing(textOn(tile)))
}

// firstLetter returns the first letter or digit of name in upper case, or a
// bullet. None of these needs escaping in markup.
func firstLetter(name string) rune {
	at := strings.IndexFunc(name, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
	if at < 0 {
		return '•'
	}
	return unicode.ToUpper([]rune(name[at:])[0])
}
