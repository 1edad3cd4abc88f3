package latchkeytest

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"unicode/utf8"
)

// page returns a reply of HTML, or of status 500 if t cannot be executed with data.
func page(t *template.Template, data any) reply {
	var body bytes.Buffer
	if err := t.Execute(&body, data); err != nil {
		return plain(http.StatusInternalServerError, err.Error())
	}
	return reply{http.StatusOK, http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Cache-Control": {"no-store"}}, body.Bytes()}
}

// login is the page on which one of [IssuerConfig].People is chosen.
type login struct {
	Query  string // of the authorization request
	Client string // the host that they go back to
	People []Person
}

// title returns what the page calls a person.
func (p Person) title() string {
	for _, s := range []string{p.Name, p.Email, p.Subject} {
		if s != "" {
			return s
		}
	}
	return "Somebody"
}

// initial returns the first character of the title, which stands for a picture.
func (p Person) initial() string {
	_, size := utf8.DecodeRuneInString(p.title())
	return strings.ToUpper(p.title()[:size])
}

// detail returns the line below the title, which tells people of one name apart.
func (p Person) detail() string {
	if p.Email == "" || p.Email == p.title() {
		return "without an e-mail address"
	}
	return p.Email
}

var loginPage = template.Must(template.New("login").Funcs(template.FuncMap{
	"title": Person.title, "initial": Person.initial, "detail": Person.detail,
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><title>Choose an account</title>
<style>
:root{color-scheme:light dark;--page:#eef1ee;--card:#fff;--ink:#161b18;--soft:#55605a;--line:#dde3df;--hover:#f1f5f2;--accent:#1d6b4a;--tint:#dcefe5}
@media (prefers-color-scheme:dark){:root{--page:#0c100e;--card:#151b18;--ink:#ebf0ed;--soft:#9fada5;--line:#29322d;--hover:#1c2420;--accent:#7fd1aa;--tint:#1b3328}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem 1rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:25rem;min-width:0;padding:1.75rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:1rem}
h1{margin:0;font-size:1.375rem;line-height:1.3}
p{margin:.25rem 0 1.25rem;color:var(--soft);font-size:.9375rem}
button{width:100%;font:inherit;color:inherit;cursor:pointer}
[name=person]{display:flex;align-items:center;gap:.875rem;min-height:3.75rem;padding:.5rem .75rem;text-align:start;background:none;border:0;border-top:1px solid var(--line)}
[name=person]:hover{background:var(--hover)}
.face{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;background:var(--tint);color:var(--accent);font-weight:600}
.what{min-width:0}
.name,.detail{display:block}
.name{font-weight:550}
.detail{color:var(--soft);font-size:.875rem}
[name=cancel]{min-height:2.75rem;padding:.5rem;background:none;border:1px solid var(--line);border-radius:.625rem;margin-top:1rem}
[name=cancel]:hover{background:var(--hover)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
</style>
</head>
<body>
<main>
<h1>Choose an account</h1>
<p>to continue to {{.Client}}</p>
<form method="post" action="{{.Query}}">
{{range $i, $p := .People}}<button name="person" value="{{$i}}" data-subject="{{$p.Subject}}"><span class="face" aria-hidden="true">{{initial $p}}</span><span class="what"><span class="name">{{title $p}}</span><span class="detail">{{detail $p}}</span></span></button>
{{end}}<button name="cancel" value="1">Cancel</button>
</form>
</main>
</body>
</html>
`))

var formPostPage = template.Must(template.New("form_post").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>One moment</title>
<body onload="document.forms[0].submit()">
<form method="post" action="{{.Action}}">
{{range $name, $values := .Params}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<noscript><button>Continue</button></noscript>
</form></body></html>
`))
