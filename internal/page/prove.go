package page

import "net/http"

// Prove asks a signed-in user for another proof of identity.
type Prove struct {
	CSRFToken  string
	Action     string // where the form is posted; it sends use and what that takes
	SendAction string // where the form that has a code mailed is posted
	SignInURL  string // the sign-in page, which leads back; empty: not offered
	SignOutURL string // the sign-out page
	CancelURL  string // back to the site
	Host       string // of the site
	Name       string // of the user; empty: not named

	Use    string // totp, passkey, email, recovery, password or provider; empty: the user can only sign in again
	Wrong  bool   // the proof before did not fit
	Failed bool   // the provider has not confirmed who the user is
	Sent   bool   // a code was mailed
	Spent  bool   // too many proofs did not fit
	Others []OtherProof

	Provider     string // id of the provider, with Use passkey and provider
	ProviderName string // as people know it

	FormOrigins []string // as in [SignIn]
	Script      string   // as in [SignIn]
}

// OtherProof is a link to another way to prove the user's identity.
type OtherProof struct {
	Use  string // as in [Prove].Use
	Name string // of the provider
	URL  string
}

type proveView struct {
	Prove
	Lead  message
	Nonce string
	Links []proveLink
}

type proveLink struct {
	URL  string
	Text message
}

// Prove renders the page that asks for another proof. With v.Spent it offers no proof.
func (r *Renderer) Prove(v Prove) (Page, error) {
	p := policy{formOrigins: v.FormOrigins}
	if v.Script != "" {
		p.nonce = nonce()
	}
	view := proveView{Prove: v, Nonce: p.nonce}
	switch {
	case v.Spent:
		view.Use, view.SignInURL, view.Others = "", "", nil
		view.Lead.Key = "prove.spent"
	case v.Use == "":
		view.Lead.Key = "prove.again"
	default:
		view.Lead = message{Key: "prove.lead." + proofKind(v.Use), Value: v.ProviderName}
		if k := proofKind(v.Use); k == factorKind(k) {
			view.Lead = message{Key: "factor.lead." + k}
		}
	}
	for _, o := range view.Others {
		kind := proofKind(o.Use)
		text := message{Key: "prove.use." + kind, Value: o.Name}
		if kind == factorKind(kind) {
			text = message{Key: "factor.use." + kind}
		}
		view.Links = append(view.Links, proveLink{o.URL, text})
	}
	return r.render("prove", http.StatusOK, view, p, v.Host)
}

// proofKind returns kind if there are texts for it, and "totp" otherwise.
func proofKind(kind string) string {
	if kind == "password" || kind == "provider" {
		return kind
	}
	return factorKind(kind)
}
