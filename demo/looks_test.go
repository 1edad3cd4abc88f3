package main

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// look is a way in which a page is looked at.
type look struct {
	scheme        string // light, dark or forced: colours that the browser chooses
	width, height int64
	scale         float64
}

// looks are the ways: 320 by 256 pixels at a scale of 4 are a window of 1280 by 1024 that
// is enlarged to 400 % (WCAG 2.2, 1.4.10).
func looks() (all []look) {
	for _, scheme := range []string{"light", "dark", "forced"} {
		all = append(all, look{scheme, 320, 256, 4}, look{scheme, 1280, 1024, 1})
	}
	return all
}

// from has the tab look in that way from now on.
func (l look) from(b *tab) {
	b.t.Helper()
	forced, scheme := "none", l.scheme
	if scheme == "forced" {
		forced, scheme = "active", "light"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "forced-colors", Value: forced}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
	b.do("size", chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateScale(l.scale)))
}

// isNarrow reports whether the window is one of a telephone. There, what unfolds is open.
func (l look) isNarrow() bool { return l.width < 400 }

// String implements fmt.Stringer.
func (l look) String() string { return fmt.Sprintf("%s-%d", l.scheme, l.width) }

// isWhole reports whether LATCHKEY_PAGES asks for every page in every way.
func isWhole() bool { return os.Getenv("LATCHKEY_PAGES") == "all" }

// each built-in page is accessible, and can be used, in both colour schemes, in
// colours that the browser chooses, enlarged to 400 %, from right to left, and by the
// keyboard alone. Each third shape of a page is looked at in one way, and each sixth in Arabic.
// With LATCHKEY_PAGES=all each page is: in each way in these two languages, and in one way
// in each of the others.
func TestEveryPageInEveryWay(t *testing.T) {
	checker, browser, tags := axe(t), startChromium(t), []string{"en", "ar"}
	if isWhole() {
		for _, tag := range words.Tags() {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	origin, pages := serveGallery(t, tags...)
	b := openTab(t, browser, origin)
	b.do("start")
	for at, tag := range tags {
		list := numbers(pages[tag])
		if !isWhole() {
			list = each(3<<at, list)
		}
		for n, i := range list {
			p := pages[tag][i]
			b.open("/" + tag + "/" + strconv.Itoa(i))
			b.do("bring axe", chromedp.Evaluate[chromedp.Void](checker+"\nvoid 0"))
			for turn, way := range looks() {
				if isWhole() && at < 2 || turn == (n+at)%len(looks()) {
					b.looksWell(tag+" "+p.name, way)
				}
			}
			if at == 0 {
				b.tabsThrough(tag + " " + p.name)
			}
		}
	}
}

// looksWell fails for what axe or misfits finds on the page that is open.
func (b *tab) looksWell(name string, way look) {
	b.t.Helper()
	way.from(b)
	ask[int](b, fmt.Sprintf("[...document.querySelectorAll('details')].map(e => e.open = %v).length", way.isNarrow()))
	faults := ask[[]string](b, "("+misfits+")(document)")
	if way.scheme == "forced" {
		faults = append(faults, ask[[]string](b, "("+edgeless+")(document)")...)
	}
	b.do("ask axe", chromedp.Evaluate[chromedp.Void]("delete window.judged;"+judge))
	b.becomes("window.judged !== undefined")
	if wrong := ask[string](b, "window.judged"); wrong != "" {
		faults = append(faults, wrong)
	}
	for _, fault := range faults {
		b.t.Errorf("R-793 %s, %s: %s", name, way, fault)
	}
}

// tabsThrough presses Tab until the page that is open has no stop left.
func (b *tab) tabsThrough(name string) {
	b.t.Helper()
	stops := ask[int](b, follow)
	for pressed := 0; pressed < stops+20 && ask[int](b, "visited.length") < stops; {
		for range max(1, stops-ask[int](b, "visited.length")) {
			b.press(kb.Tab)
			pressed++
		}
	}
	for _, fault := range ask[[]string](b, followed) {
		b.t.Errorf("R-793 %s: %s", name, fault)
	}
}

var (
	tagPattern   = regexp.MustCompile(`<(/?[a-z0-9]+)[^>]*?( class="[^"]*")?[^>]*>`)
	classPattern = regexp.MustCompile(` class="[^"]*"`)
)

// numbers returns which pages are looked at: with LATCHKEY_PAGES=all each of them, without
// the first of each shape.
func numbers(pages []exhibit) (list []int) {
	seen := map[string]bool{}
	for i, p := range pages {
		shape := shapeOf(p.body)
		if !seen[shape] || isWhole() {
			list = append(list, i)
		}
		seen[shape] = true
	}
	return list
}

// each returns the first of every n elements of list.
func each(n int, list []int) (some []int) {
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// shapeOf returns the tags and classes of a page: pages of one shape differ in words.
func shapeOf(body []byte) string {
	_, main, _ := strings.Cut(string(body), "<main>")
	var shape strings.Builder
	for _, tag := range tagPattern.FindAllString(main, -1) {
		name, _, _ := strings.Cut(strings.Trim(tag, "<>"), " ")
		shape.WriteString(name + classPattern.FindString(tag) + "\n")
	}
	return shape.String()
}

// TestScreens writes a picture of each shape of a page in each way into the folder that
// LATCHKEY_SCREENS names: scripts/screenshots pages FOLDER. Without a folder it takes
// two pictures of one page, and each must show the whole width.
func TestScreens(t *testing.T) {
	folder, tags := os.Getenv("LATCHKEY_SCREENS"), []string{"en", "ar"}
	browser := startChromium(t, "hide-scrollbars")
	origin, pages := serveGallery(t, tags...)
	shown, ways := numbers, looks()
	if folder == "" {
		folder, tags, ways = t.TempDir(), tags[:1], ways[:2]
		shown = func([]exhibit) []int { return []int{0} }
	}
	for _, way := range ways {
		b := openTab(t, browser, origin) // of its own: colours that the browser chose would stay
		b.do("start")
		for _, tag := range tags {
			for _, i := range shown(pages[tag]) {
				b.open("/" + tag + "/" + strconv.Itoa(i))
				b.keepPicture(filepath.Join(folder, tag, way.String(), pages[tag][i].name+".png"), way)
			}
		}
	}
}

// keepPicture writes a picture of the whole page that is open.
func (b *tab) keepPicture(path string, way look) {
	b.t.Helper()
	way.scale = 1
	way.from(b)
	way.height = max(way.height, ask[int64](b, "document.documentElement.scrollHeight"))
	way.from(b)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if shown, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || int64(shown.Width) != way.width {
		b.t.Errorf("a picture in the way %s is %d pixels wide: %v", way, shown.Width, err)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
