package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"
)

// Theme is the look of the pages. Colours are #rgb, #rrggbb, rgb(), hsl() or a
// CSS name, and opaque.
type Theme struct {
	ColorScheme string // auto, light or dark; empty: auto, which follows the browser's system
	BrandColor  string // of main buttons, and of links as far as they stay readable; empty: Latchkey's blue
	ButtonText  string // on BrandColor; empty: black or white, whichever reads better
	Logo        string // an http(s) URL, a path of the site, or a data:image URL; empty: none
	LogoAlt     string // what the logo says; empty: it is decoration
}

//go:embed style.css
var styleSheet string

// look is a checked theme, made into the parts that pages and policies need.
type look struct {
	scheme string
	style  string // what stands between <style> and </style>

	styleHash string // of style, as a policy names it

	logo       template.URL
	logoAlt    string
	logoSource string // what img-src must list besides 'self'; empty: nothing
	foreign    bool   // showing the logo asks another site for it
}

func newLook(t Theme) (look, error) {
	scheme := t.ColorScheme
	var errs []error
	switch scheme {
	case "":
		scheme = "auto"
	case "auto", "light", "dark":
	default:
		errs = append(errs, fmt.Errorf("page: Theme.ColorScheme: %q is none of auto, light, dark", scheme))
	}
	brand, err := themeColor("BrandColor", t.BrandColor)
	errs = append(errs, err)
	_, err = themeColor("ButtonText", t.ButtonText)
	errs = append(errs, err)
	source, err := logoSource(t.Logo)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return look{}, err
	}
	l := look{scheme: scheme, logo: template.URL(t.Logo), logoAlt: t.LogoAlt, logoSource: source, foreign: strings.HasPrefix(source, "http")}
	l.style = themeTokens(t) + schemeTokens(scheme, brand, t.ButtonText != "") + joined(styleSheet)
	sum := sha256.Sum256([]byte(l.style))
	l.styleHash = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return l, nil
}

// themeColor checks one colour of a theme; nil: there is none.
func themeColor(field, value string) (*rgb, error) {
	if value == "" {
		return nil, nil
	}
	c, err := parseColor(value)
	if err != nil {
		return nil, fmt.Errorf("page: Theme.%s: %w", field, err)
	}
	return &c, nil
}

// dataImage admits embedded pictures. SVG is among them, because a picture in
// an <img> runs no script.
var dataImage = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|avif|svg\+xml);base64,[A-Za-z0-9+/]+=*$`)

func logoSource(logo string) (string, error) {
	if logo == "" {
		return "", nil
	}
	if dataImage.MatchString(logo) {
		return "data:", nil
	}
	u, err := url.Parse(logo)
	if err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(logo, "/") && !strings.Contains(logo, `\`) {
		return "", nil
	}
	if source, ok := Source(logo); ok && source != anyHTTPS {
		return source, nil
	}
	return "", errors.New("page: Theme.Logo: not an http(s) URL, a path or a base64 data:image URL")
}

// joined makes one line of a style sheet and drops its comments.
func joined(css string) string {
	var b strings.Builder
	for line := range strings.Lines(css) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "/*") {
			b.WriteString(line)
		}
	}
	return b.String()
}
