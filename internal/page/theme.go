package page

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Theme is the look of the pages. Colours are #rgb, #rrggbb, rgb(), hsl() or a
// CSS name, and opaque.
type Theme struct {
	ColorScheme string // auto, light or dark; empty: auto, which follows the browser's system
	BrandColor  string // of main buttons, and of links as far as they stay readable; empty: Latchkey's blue
	ButtonText  string // on BrandColor; empty: black or white, whichever reads better
	Logo        string // an http(s) URL, a path of the site, or a data:image URL; empty: none
	Icon        string // of the browser's tab, like Logo; empty: a keyhole on BrandColor
	Name        string // of the site, in titles and headings and as what the logo says; empty: the host, and a logo that is decoration
	Contact     string // whom a refused user can ask: an e-mail address or an http(s) URL; empty: not shown
}

//go:embed style.css
var styleSheet string

// rules returns the style sheet as the pages have it, which all themes share.
var rules = sync.OnceValue(func() string { return joined(styleSheet) })

// look is a checked theme, as pages and policies need it.
type look struct {
	scheme string
	style  string // what stands between <style> and </style>

	styleHash string // of style, as a policy names it

	name       string
	contact    contact
	icon       template.URL
	logo       template.URL
	logoSource string // what img-src must list besides 'self' and data:; empty: nothing
	foreign    bool   // showing the logo asks another site for it
}

// newLook checks a theme and returns its look. The error joins every fault.
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
	source, err := imageSource("Logo", t.Logo)
	errs = append(errs, err)
	iconSource, err := imageSource("Icon", t.Icon)
	if err == nil && iconSource != "" && iconSource != dataSource {
		err = errors.New("page: Theme.Icon: it must be of the site itself, so that no other learns who is about to sign in")
	}
	errs = append(errs, err)
	ask, err := newContact(t.Contact)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return look{}, err
	}
	l := look{scheme: scheme, name: t.Name, contact: ask, icon: template.URL(t.Icon), logo: template.URL(t.Logo), foreign: strings.HasPrefix(source, "http")}
	if l.foreign {
		l.logoSource = source
	}
	if l.icon == "" {
		l.icon = keyhole(brand)
	}
	l.style = themeTokens(t) + schemeTokens(scheme, brand, t.ButtonText != "") + rules()
	l.styleHash = hashSource(l.style)
	return l, nil
}

// contact is a link to the operator of the site. The zero value is none.
type contact struct{ URL, Text string }

// newContact returns the link for Theme.Contact, or the zero contact if value is empty.
// Its text is what the operator wrote, without the scheme of a URL. It returns an error
// if value is neither an e-mail address nor an http(s) URL.
func newContact(value string) (contact, error) {
	if value == "" {
		return contact{}, nil
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return contact{value, strings.TrimSuffix(strings.TrimPrefix(value, u.Scheme+"://"), "/")}, nil
	}
	if at, err := mail.ParseAddress(value); err != nil || at.Address != value || strings.ContainsAny(value, "?&#%") {
		return contact{}, errors.New("page: Theme.Contact: want an e-mail address or an http(s) URL")
	}
	return contact{"mailto:" + value, value}, nil
}

// themeColor parses one colour of a theme. It returns nil for an empty value.
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

// dataImage matches embedded pictures. It allows SVG, because a picture in an
// <img> runs no script.
var dataImage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|avif|svg\+xml);base64,[A-Za-z0-9+/]+=*$`)
})

const dataSource = "data:"

// imageSource checks the URL of a picture and returns its source for a policy. The
// source is empty for no picture and for a path of the site itself, "data:" for a data
// URL, and otherwise the origin of an http(s) URL.
func imageSource(field, image string) (string, error) {
	if image == "" {
		return "", nil
	}
	if dataImage().MatchString(image) {
		return dataSource, nil
	}
	u, err := url.Parse(image)
	if err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(image, "/") && !strings.Contains(image, `\`) {
		return "", nil
	}
	if source, ok := Source(image); ok && source != anyHTTPS && source != AnyHTTP {
		return source, nil
	}
	return "", errors.New("page: Theme." + field + ": not an http(s) URL, a path or a base64 data:image URL")
}

// joined joins the lines of a style sheet or script and drops its comment lines.
func joined(css string) string {
	var b strings.Builder
	b.Grow(len(css))
	for line := range strings.Lines(css) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "/*") {
			b.WriteString(line)
		}
	}
	return b.String()
}
