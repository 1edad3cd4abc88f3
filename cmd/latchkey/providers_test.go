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
		if d.NeedsIssuer && (d.Issuer == nil || *d.Issuer != "{issuer}" || d.Env["issuer"] == "") {
			t.Errorf("%s needs an issuer: %v, %v", d.ID, d.Issuer, d.Env)
		}
	}
}
