package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

const aboutProviders = `List the ready-made providers, or show one.

For one provider it prints the code to write, the variables to set, and the
callback URL to register, that of this site where AUTH_URL is set.`

func (p *program) providersCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "providers [ID]", Short: "List the ready-made providers, or show one", Long: aboutProviders, Args: cobra.MaximumNArgs(1),
		Example: `  latchkey providers                 all of them
  latchkey providers github          what to write, set and register
  latchkey providers --json          every definition, to compare with others`,
		RunE: does(func(_ *cobra.Command, args []string) error {
			list, err := chosenProviders(args)
			switch {
			case err != nil:
				return err
			case asJSON:
				return p.printDefinitions(list)
			case len(args) == 1:
				return p.showProvider(list[0])
			}
			return p.listProviders(list)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the definitions as JSON")
	return c
}

// ready is a provider of the catalogue.
type ready struct {
	catalogue.Entry
	*latchkey.OAuth
}

// chosenProviders returns all providers in the order of their ids, or the one that args
// names. An unknown id is a wrongUsage.
func chosenProviders(args []string) (list []ready, err error) {
	for _, e := range catalogue.Providers() {
		p := e.New(latchkey.OAuth{})
		if len(args) == 0 || strings.EqualFold(args[0], p.ID) {
			list = append(list, ready{e, p})
		}
	}
	if len(list) == 0 {
		return nil, usage("there is no provider %q: %s", args[0], suggestion(args[0]))
	}
	slices.SortFunc(list, func(a, b ready) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// suggestion returns a hint to the ids that the user may have meant.
func suggestion(id string) string {
	var meant []string
	id = strings.ToLower(id)
	for _, e := range catalogue.Providers() {
		p := e.New(latchkey.OAuth{})
		within := len(id) > 2 && (strings.Contains(p.ID, id) || strings.Contains(strings.ToLower(p.Name), id))
		if within || len(id) > 3 && resembles(id, p.ID) {
			meant = append(meant, p.ID)
		}
	}
	if len(meant) == 0 || len(meant) > 5 {
		return "see latchkey providers"
	}
	slices.Sort(meant)
	return "is it " + strings.Join(meant, " or ") + "? All are in latchkey providers"
}

// listProviders prints a line for each provider: its id, kind and name.
func (p *program) listProviders(list []ready) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.kind(), r.Name)
	}
	return w.Flush()
}

// showProvider prints the code to write for a provider, the variables to set and the
// callback URL to register.
func (p *program) showProvider(r ready) error {
	callback := p.env.callbackPrefix()
	if callback == "" {
		callback = "https://{your site}/auth/callback/"
	}
	text := fmt.Sprintf("%s (%s)\n\nWrite\n\n\tproviders.%s(latchkey.OAuth{%s})\n\nSet\n\n", r.Name, r.kind(), r.function(), r.Fields)
	if !r.hasClientID() {
		text += "\t" + r.variable("ID") + "=\n"
	}
	if r.ClientAuth != latchkey.ClientAuthNone {
		text += "\t" + r.variable("SECRET") + "=\n"
	}
	switch {
	case r.needsIssuer():
		text += fmt.Sprintf("\t%s=   (%s)\n", r.variable("ISSUER"), r.Entry.Issuer)
	case r.OAuth.Issuer != "":
		text += fmt.Sprintf("\t%s=%s   (unless it is this)\n", r.variable("ISSUER"), r.OAuth.Issuer)
	}
	if !r.hasClientID() {
		text += "\nRegister\n\n\t" + callback + r.ID + "\n"
	}
	text += fmt.Sprintf("\nRead\n\n\tgo doc github.com/latchkeyhq/latchkey/providers.%s\n", r.function())
	_, err := fmt.Fprint(p.stdout, text)
	return err
}

// kind returns "oidc" or "oauth".
func (r ready) kind() string {
	if r.OIDC {
		return string(latchkey.TypeOIDC)
	}
	return string(latchkey.TypeOAuth)
}

// function returns the name of the function in package providers that makes this
// provider.
func (r ready) function() string {
	name := runtime.FuncForPC(reflect.ValueOf(r.New).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// variable returns the name of a variable of the provider, such as AUTH_GITHUB_SECRET.
// what is the end of that name: ID, SECRET or ISSUER.
func (r ready) variable(what string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(r.ID, "-", "_")) + "_" + what
}

// derived returns a copy of the provider with the fields that its Derive fills in. The
// client id is the placeholder {clientId}. If Derive needs an issuer that the provider
// lacks, the issuer is the placeholder {issuer}.
func (r ready) derived() latchkey.OAuth {
	d := *r.OAuth
	d.ClientID = "{clientId}"
	if d.Derive == nil {
		return d
	}
	_ = d.Derive(&d) // what it misses is the user's to set
	if d.Issuer == "" && d.Authorization.URL == "" {
		d.Issuer = "{issuer}"
		_ = d.Derive(&d)
	}
	return d
}

// hasClientID reports whether the provider sets the client id itself. It then registers
// no clients: the user has a secret alone.
func (r ready) hasClientID() bool {
	d := *r.OAuth
	d.ClientSecret = "{clientSecret}"
	return d.Derive != nil && d.Derive(&d) == nil && d.ClientID != ""
}

// needsIssuer reports whether the user has to say which issuer the provider has.
func (r ready) needsIssuer() bool {
	d := r.derived()
	return d.Issuer == "{issuer}" || d.Issuer == "" && d.OIDC
}

// printDefinitions prints all that is known of the providers as JSON.
func (p *program) printDefinitions(list []ready) error {
	definitions := struct {
		OAuth []definition `json:"oauth"`
	}{}
	for _, r := range list {
		definitions.OAuth = append(definitions.OAuth, r.definition())
	}
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(definitions)
}
