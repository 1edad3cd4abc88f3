package mailtext_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
	"github.com/latchkeyhq/latchkey/mailtext"
)

const link = "https://app.example/auth/callback/email?callbackUrl=https%3A%2F%2Fapp.example%2F&token=f00d&email=ada%40b.example"

func compose(t *testing.T, m latchkey.Message) mailtext.Content {
	t.Helper()
	if m.URL == "" {
		m.URL = link
	}
	m.Kind = latchkey.MessageSignIn
	content, err := mailtext.Compose(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := content.Check(); err != nil {
		t.Fatal(err)
	}
	return content
}

// page is what of a document a reader meets.
type page struct {
	words, style string
	links        []string
	tags         map[string]int
}

func read(t *testing.T, html string) page {
	t.Helper()
	p := page{tags: map[string]int{}}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			p.words = strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\u200b", "")), " ")
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			p.tags[token.Name.Local]++
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "href", "src", "background":
					p.links = append(p.links, a.Value)
				case "style":
					p.style += a.Value + "\n"
				}
			}
		}
	}
}

func TestPlainText(t *testing.T) {
	m := compose(t, latchkey.Message{Expires: time.Date(2026, 11, 21, 6, 7, 59, 0, time.FixedZone("", 3600))})
	want := "Sign in to app.example\n" + link + "\n\n" +
		"The link works once, until 2026-11-21 05:07 UTC.\nIf you did not request this email you can safely ignore it.\n"
	if m.Text != want {
		t.Errorf("text:\n%q\nwant\n%q", m.Text, want)
	}
	if m.Subject != "Sign in to app.example" {
		t.Errorf("subject %q", m.Subject)
	}
}

func TestHTMLSaysTheSame(t *testing.T) {
	p := read(t, compose(t, latchkey.Message{}).HTML)
	if len(p.links) != 1 || p.links[0] != link {
		t.Errorf("links %q, want only %q", p.links, link)
	}
	if !strings.Contains(p.words, "Sign in to app.example Sign in If the button does not work") || !strings.Contains(p.words, "If you did not request") {
		t.Errorf("words %q", p.words)
	}
}

// TestTheLinkCanBeCopied: where a program shows no buttons, or the reader wants
// another browser, the link is there to select.
func TestTheLinkCanBeCopied(t *testing.T) {
	for _, language := range []string{"en", "de", "ar"} {
		t.Run("R-328 "+language, func(t *testing.T) {
			p := read(t, compose(t, latchkey.Message{Language: language}).HTML)
			if want := words.Text(language, "mail.copy") + " " + link; !strings.Contains(p.words, want) {
				t.Errorf("%q is not among the words %q", want, p.words)
			}
		})
	}
}

func TestTheHostIsNoLinkOfItsOwn(t *testing.T) {
	if html := compose(t, latchkey.Message{}).HTML; !strings.Contains(html, "app&#8203;.example</strong>") {
		t.Error("mail programs would turn the host's name into a second link")
	}
}

func TestNothingIsLoaded(t *testing.T) {
	html := compose(t, latchkey.Message{Theme: latchkey.Theme{Logo: "https://cdn.example/logo.png"}}).HTML
	if strings.Contains(html, "cdn.example") || strings.Contains(html, "<img") || strings.Contains(html, "<link") {
		t.Error("the mail loads something from elsewhere")
	}
}

func TestColours(t *testing.T) {
	for _, row := range []struct {
		name               string
		theme              latchkey.Theme
		button, text, edge string
	}{
		{"no theme", latchkey.Theme{}, "#3056d3", "#ffffff", "#3056d3"},
		{"dark brand", latchkey.Theme{BrandColor: "#123"}, "#123", "#ffffff", "#123"},
		{"bright brand", latchkey.Theme{BrandColor: "#ffcc00"}, "#ffcc00", "#000000", "#ffcc00"},
		{"bright brand as rgb()", latchkey.Theme{BrandColor: "rgb(255, 204, 0)"}, "rgb(255, 204, 0)", "#000000", "rgb(255, 204, 0)"},
		{"own words", latchkey.Theme{BrandColor: "gold", ButtonText: "navy"}, "gold", "navy", "gold"},
		{"brightness unknown", latchkey.Theme{BrandColor: "gold"}, "#ffffff", "#15181e", "gold"},
		{"end of the declaration", latchkey.Theme{BrandColor: "red;background:blue"}, "#3056d3", "#ffffff", "#3056d3"},
		{"end of the attribute", latchkey.Theme{BrandColor: `red"><script>`}, "#3056d3", "#ffffff", "#3056d3"},
		{"something to load", latchkey.Theme{ButtonText: "url(//evil.example)"}, "#3056d3", "#ffffff", "#3056d3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			style := read(t, compose(t, latchkey.Message{Theme: row.theme}).HTML).style
			want := "border: 2px solid " + row.edge + "; border-radius: 8px; background: " + row.button + "; color: " + row.text + ";"
			if !strings.Contains(style, want) {
				t.Errorf("no %q in\n%s", want, style)
			}
		})
	}
}

func TestColourSchemes(t *testing.T) {
	for scheme, want := range map[string][2]bool{ // paints a dark card, follows the reader's system
		"": {false, true}, "auto": {false, true}, "light": {false, false}, "dark": {true, false},
	} {
		html := compose(t, latchkey.Message{Theme: latchkey.Theme{ColorScheme: scheme}}).HTML
		got := [2]bool{strings.Contains(read(t, html).style, "background: #16191f"), strings.Contains(html, "prefers-color-scheme")}
		if got != want {
			t.Errorf("scheme %q: %v, want %v", scheme, got, want)
		}
	}
}

func TestTranslation(t *testing.T) {
	german := map[string]string{
		"mail.subject": "Bei {host}\r\nBcc: evil@x.example anmelden",
		"mail.action":  "<b>Anmelden</b>",
		"mail.expires": "ohne Platz",
		"mail.ignore":  "",
	}
	own := latchkey.Texts{Text: func(_, key, _ string) string { return german[key] }}
	m := compose(t, latchkey.Message{Language: `de" onload="x`, Texts: own, Expires: time.Unix(0, 0)})
	if m.Subject != "Bei app.example Bcc: evil@x.example anmelden" {
		t.Errorf("subject %q is not one line", m.Subject)
	}
	p := read(t, m.HTML)
	for _, want := range []string{"Bei app.example Bcc", "<b>Anmelden</b>", "until 1970-01-01 00:00 UTC", "If you did not request"} {
		if !strings.Contains(p.words, want) {
			t.Errorf("%q is not among the words %q", want, p.words)
		}
	}
	if p.tags["b"] != 0 || strings.Contains(m.HTML, `onload="`) {
		t.Error("a text became markup")
	}
}

func TestNoWordsForOtherKinds(t *testing.T) {
	for _, kind := range []latchkey.MessageKind{"", "a kind of a later release"} {
		if words, err := mailtext.Compose(latchkey.Message{Kind: kind, URL: link}); err == nil || words != (mailtext.Content{}) {
			t.Errorf("%q: %+v, %v", kind, words, err)
		}
	}
}

func TestHostileLinks(t *testing.T) {
	for _, link := range []string{
		"", "javascript:alert(1)", "/relative?token=f00d", "https://?token=f00d", "ftp://app.example/?token=f00d",
		"https://app.example@evil.example/?token=f00d", "https://app.example/\r\nBcc: x?token=f00d", "https://a\u202eb.example/?token=f00d",
	} {
		_, err := mailtext.Compose(latchkey.Message{Kind: latchkey.MessageSignIn, URL: link})
		if err == nil || strings.Contains(err.Error(), "f00d") {
			t.Errorf("%q: error %v", link, err)
		}
	}
	p := read(t, compose(t, latchkey.Message{URL: `https://app.example/?token="><script>alert(1)</script>`}).HTML)
	if p.tags["script"] != 0 {
		t.Error("the link became markup")
	}
}

func TestRecipient(t *testing.T) {
	for good, want := range map[string]string{
		"ada@b.example": "ada@b.example", "ada+x@b.example": "ada+x@b.example", "ädä@bücher.example": "ädä@xn--bcher-kva.example",
		"Ada@B.Example": "ada@b.example", // as Auth.js may have stored it
	} {
		if got, err := mailtext.Recipient(good); err != nil || got != want {
			t.Errorf("%q becomes %q, want %q (R-371), %v", good, got, want, err)
		}
	}
	for _, bad := range []string{
		"", "ada", "ada@", "a@b.example,c@d.example", "a@b.example;c@d.example", "Ada <a@b.example>", "<a@b.example>",
		"a@b.example\r\nBcc: c@d.example", "a@b.example>\r\nRCPT TO:<c@d.example", `"a b"@c.example`, "(c)a@b.example", " a@b.example", "g:a@b.example;", "-a@b.example",
	} {
		if _, err := mailtext.Recipient(bad); err == nil {
			t.Errorf("%q is not refused (R-144)", bad)
		}
	}
}

func TestSender(t *testing.T) {
	for from, want := range map[string][2]string{
		"a@b.example":               {"", "a@b.example"},
		"App <a@b.example>":         {"App", "a@b.example"},
		`"App, Inc." <a@b.example>`: {"App, Inc.", "a@b.example"},
		"Bücher <a@b.example>":      {"Bücher", "a@b.example"},
		"App <A.b@BÜCHER.example>":  {"App", "A.b@xn--bcher-kva.example"},
	} {
		if a, err := mailtext.Sender(from); err != nil || a.Name != want[0] || a.Address != want[1] {
			t.Errorf("%q: %v, %v", from, a, err)
		}
	}
	for _, bad := range []string{"", "App", "a@b.example, c@d.example", "App <a@b.example>\r\nBcc: c@d.example", "App\n <a@b.example>"} {
		if _, err := mailtext.Sender(bad); err == nil {
			t.Errorf("%q is not refused", bad)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, m := range map[string]mailtext.Content{
		"no subject":           {Text: "x"},
		"header in subject":    {Subject: "x\r\nBcc: a@b.example", Text: "x"},
		"bare line feed":       {Subject: "x\ny", Text: "x"},
		"no text":              {Subject: "x", HTML: "<p>x"},
		"invalid UTF-8":        {Subject: "x", Text: "\xff"},
		"invalid UTF-8 markup": {Subject: "x", Text: "x", HTML: "\xff"},
	} {
		if m.Check() == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func FuzzCompose(f *testing.F) {
	f.Add(link, "#ffcc00", "Sign in to {host}")
	f.Add("https://app.example/?a=\"'<>", "rgb(1,2,3)", "{host}\n{host}")
	f.Add("http://[::1]:8080/", "url(x)", "<script>")
	f.Fuzz(func(t *testing.T, link, brand, text string) {
		theme := latchkey.Theme{BrandColor: brand, ButtonText: brand}
		own := latchkey.Texts{Text: func(_, _, _ string) string { return text }}
		m, err := mailtext.Compose(latchkey.Message{Kind: latchkey.MessageSignIn, URL: link, Theme: theme, Language: text, Texts: own})
		if err != nil || m.Check() != nil {
			return
		}
		if strings.ContainsAny(m.Subject, "\r\n") || strings.Contains(m.HTML, "<script") || strings.Contains(m.HTML, "<img") || strings.Count(m.HTML, "<a ") != 1 {
			t.Errorf("subject %q\n%s", m.Subject, m.HTML)
		}
	})
}
