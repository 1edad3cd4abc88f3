package main

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// definition is a provider as JSON. What is discovered, or not there, is null.
type definition struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Issuer      *string           `json:"issuer"`
	NeedsIssuer bool              `json:"needs_issuer"`
	Env         map[string]string `json:"env"`
	Endpoints   struct {
		Authorization *string `json:"authorization"`
		Token         *string `json:"token"`
		UserInfo      *string `json:"userinfo"`
	} `json:"endpoints"`
	Discovery      bool              `json:"discovery"`
	Scope          string            `json:"default_scope"`
	ScopeDeclared  bool              `json:"scope_declared"`
	ScopeSeparator string            `json:"scope_separator"`
	Params         map[string]string `json:"authorization_params"`
	Checks         []latchkey.Check  `json:"checks"`
	ChecksDeclared bool              `json:"checks_declared"`
	ClientAuth     *string           `json:"token_endpoint_auth_method"`
	ResponseMode   *string           `json:"response_mode"`
	FromIDToken    bool              `json:"id_token_used_for_profile"`
	Fields         []profileField    `json:"profile_fields"`
	Brand          struct {
		Background string `json:"bg"`
	} `json:"brand"`
	HasQuirks bool `json:"has_quirks"`

	Options        []option        `json:"options"`
	EndpointsFrom  *string         `json:"endpoints_derived_from"` // what the endpoints follow from; null: nothing
	ProfileMapping *profileMapping `json:"profile_mapping"`        // null: it looks at more than the profile
	Quirks         []string        `json:"quirks"`
	CallbackParams []string        `json:"callback_params"` // that the token request repeats
	VerifiesEmail  string          `json:"verifies_email"`  // yes, no, or unknown: then email_verified counts
	MappingDefault bool            `json:"profile_mapping_is_default"`
}

// option is something to choose: a field of latchkey.OAuth, or a function or
// constant of package providers.
type option struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
}

// profileField is a member of a profile; dots lead into objects, [] into lists.
type profileField struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// definition returns the provider as the JSON of `latchkey providers --json` describes
// it, with the defaults of the library filled in.
func (r ready) definition() definition {
	p := r.derived()
	d := definition{
		ID: p.ID, Name: p.Name, Type: r.kind(), NeedsIssuer: r.needsIssuer(),
		Env:       map[string]string{"client_id": r.variable("ID"), "client_secret": r.variable("SECRET")},
		Discovery: p.OIDC && (p.Authorization.URL == "" || p.Token.URL == ""),
		Scope:     strings.Join(p.Scopes, cmp.Or(p.ScopeSeparator, " ")), ScopeDeclared: p.Scopes != nil, ScopeSeparator: cmp.Or(p.ScopeSeparator, " "),
		Params: map[string]string{}, Checks: p.Checks, ChecksDeclared: p.Checks != nil,
		FromIDToken: p.OIDC && !p.ProfileFromUserInfo && p.FetchProfile == nil,
		Fields:      fieldsOf("", reflect.TypeOf(r.Profile)),
	}
	if p.Scopes == nil {
		d.Scope = "openid profile email"
	}
	if p.Checks == nil {
		d.Checks = []latchkey.Check{latchkey.CheckPKCE}
	}
	if d.NeedsIssuer {
		p.Issuer = "{issuer}"
	}
	if p.Issuer != "" {
		d.Env["issuer"] = r.variable("ISSUER")
	}
	d.Issuer, d.ClientAuth, d.ResponseMode = orNull(p.Issuer), orNull(string(p.ClientAuth)), orNull(p.ResponseMode)
	d.Endpoints.Authorization, d.Endpoints.Token, d.Endpoints.UserInfo = endpoint(p.Authorization, false), endpoint(p.Token, true), endpoint(p.UserInfo, true)
	for name := range p.Authorization.Params {
		d.Params[name] = p.Authorization.Params.Get(name)
	}
	d.Brand.Background = p.Style.Color
	r.describe(&d, &p)
	return d
}

// describe fills in HasQuirks and the last fields of d, from Options on. It calls functions
// of the provider with made-up values, or looks whether they are set.
func (r ready) describe(d *definition, p *latchkey.OAuth) {
	if d.Issuer != nil {
		d.Options = append(d.Options, option{"Issuer", d.NeedsIssuer})
	}
	for _, name := range r.Options {
		d.Options = append(d.Options, option{name, r.requires(name)})
	}
	if r.Authorization.URL == "" && r.Derive != nil {
		d.EndpointsFrom = orNull("issuer")
	}
	d.ProfileMapping, d.MappingDefault = mappingOf(p.Identify, reflect.TypeOf(r.Profile)), p.Identify == nil
	d.CallbackParams = p.CallbackParams
	d.VerifiesEmail = map[latchkey.EmailTrust]string{latchkey.EmailProven: "yes", latchkey.EmailUnproven: "no"}[p.EmailTrust]
	d.VerifiesEmail = cmp.Or(d.VerifiesEmail, "unknown")
	d.Quirks = quirksOf(p)
	d.HasQuirks = len(d.Quirks) > 0
}

// requires reports whether latchkey.New fails without this option of package providers.
func (r ready) requires(name string) bool {
	d := *r.OAuth
	return d.Derive != nil && strings.Contains(fmt.Sprint(d.Derive(&d)), "providers."+name+"(")
}

// quirksOf returns where a provider strays from the standards, a sentence each. It is
// never nil.
func quirksOf(p *latchkey.OAuth) []string {
	list := []string{}
	for _, quirk := range []struct {
		applies bool
		text    string
	}{
		{p.Protocol.Begin != nil, "It speaks a protocol of its own instead of OAuth 2."},
		{p.Transport != nil, "Token requests, their answers or the headers of calls stray from the standard."},
		{p.FetchProfile != nil, "The profile takes other calls than one for userinfo with a bearer token."},
		{p.ResponseMode == "form_post", "It posts its callback from its own site, which takes cookies of SameSite None, and https."},
		{p.Authorization.Fragment != "", "The authorization URL ends in the fragment #" + p.Authorization.Fragment + "."},
		{len(p.CallbackParams) > 0, "The token request repeats " + strings.Join(p.CallbackParams, ", ") + " of the callback."},
		{p.ClientIDParam != "", "The client id is also sent as " + p.ClientIDParam + "."},
		{p.MatchIssuer != nil, "Its issuer depends on the person."},
		{p.NewClientSecret != nil, "The client secret is made afresh."},
		{p.KeepTokens != nil, "Not all of its tokens are the person's, and only theirs are stored."},
	} {
		if quirk.applies {
			list = append(list, quirk.text)
		}
	}
	return list
}

// endpoint returns the URL of an endpoint, or nil if it is empty because discovery finds
// it. withParams appends the parameters of the endpoint.
func endpoint(e latchkey.Endpoint, withParams bool) *string {
	if withParams && e.URL != "" && len(e.Params) > 0 {
		e.URL += "?" + strings.ReplaceAll(e.Params.Encode(), "%2C", ",")
	}
	return orNull(e.URL)
}

// orNull returns a pointer to text, or nil (null in JSON) if it is empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// fieldsOf returns the members of the profile type t and of the types in it. Each name
// begins with path.
func fieldsOf(path string, t reflect.Type) (list []profileField) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		list = append(list, fieldOf(path+name, f.Type)...)
	}
	return list
}

// fieldOf returns a member with this name and type, followed by the members that it
// holds.
func fieldOf(name string, t reflect.Type) []profileField {
	nullable := ""
	if t.Kind() == reflect.Pointer {
		t, nullable = t.Elem(), " | null"
	}
	switch t.Kind() {
	case reflect.Struct:
		if inner := fieldsOf(name+".", t); len(inner) > 0 {
			return append([]profileField{{name, "object" + nullable}}, inner...)
		}
		return []profileField{{name, "string"}} // a time
	case reflect.Slice:
		inner := fieldOf(name+"[]", t.Elem())
		inner[0] = profileField{name, "array<" + inner[0].Type + ">"}
		return inner
	case reflect.Map:
		return []profileField{{name, "object"}}
	case reflect.Bool:
		return []profileField{{name, "boolean" + nullable}}
	case reflect.String:
		if t.PkgPath() == "encoding/json" {
			return []profileField{{name, "number"}}
		}
		return []profileField{{name, "string" + nullable}}
	case reflect.Interface:
		return []profileField{{name, "any"}}
	}
	return []profileField{{name, "number" + nullable}}
}
