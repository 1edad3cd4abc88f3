package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// TestDefinitionsAsJSON holds that every definition says what it takes to
// compare it with others.
func TestDefinitionsAsJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"providers", "--json"}, strings.NewReader(""), &out, &errs, nil); code != exitOK {
		t.Fatal(errs.String())
	}
	var got struct{ OAuth []definition }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.OAuth) != len(catalogue.Providers()) {
		t.Fatalf("%d definitions, %v", len(got.OAuth), err)
	}
	for _, d := range got.OAuth {
		known := d.Endpoints.Authorization != nil && d.Endpoints.Token != nil
		if d.ID == "" || d.Name == "" || d.Type == "" || len(d.Checks) == 0 || len(d.Fields) == 0 || d.Brand.Background == "" || known && d.Discovery || !known && !d.Discovery && !d.NeedsIssuer {
			t.Errorf("%+v", d)
		}
		if d.ProfileMapping == nil && d.ID != "shopify" || d.ProfileMapping != nil && d.ProfileMapping.ID == nil || d.VerifiesEmail == "" || d.Quirks == nil {
			t.Errorf("%s: mapping %+v, e-mail %q, quirks %v", d.ID, d.ProfileMapping, d.VerifiesEmail, d.Quirks)
		}
		if (d.ID == "netsuite" || d.ID == "mattermost") && (d.EndpointsFrom == nil || *d.EndpointsFrom != "issuer") {
			t.Errorf("%s: endpoints from %v", d.ID, d.EndpointsFrom)
		}
		if d.NeedsIssuer && (d.Issuer == nil || *d.Issuer != "{issuer}" || d.Env["issuer"] == "") {
			t.Errorf("%s needs an issuer: %v, %v", d.ID, d.Issuer, d.Env)
		}
	}
}

// TestMappings: the mapping of a definition is found, with what counts where
// something is missing.
func TestMappings(t *testing.T) {
	for id, want := range map[string]string{
		"github": `{"id":"id","name":"name, else login","email":"email","image":"avatar_url"}`,
		"google": `{"id":"sub, else id","name":"name, else nickname, else preferred_username","email":"email","image":"picture"}`,
		"vk":     `{"id":"id","name":"first_name + last_name","email":"email","image":"photo_100"}`,
		"lark":   `{"id":"data.open_id","name":"data.name","email":"data.enterprise_email, else data.email","image":"data.avatar_url"}`,
		"steam":  `{"id":"steamid","name":"personaname","email":null,"image":"avatarfull"}`,
	} {
		list, err := chosenProviders([]string{id})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(list[0].definition().ProfileMapping)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
