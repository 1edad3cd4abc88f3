package latchkey

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a session says of the proofs of its user, and the new token that it gets
// after another proof.

// renewal implements sessionStrategy: stored gives the row a new token and what was
// proven.
func (d *databaseStrategy) renewal(v *visit, _ *currentUser, p directory.Proof) renewal {
	former := rowToken(v.credential.Token())
	now := d.setup.now().UTC()
	next := storage.StoredSession{Token: d.newToken(), Expires: now.Add(d.setup.config.Session.MaxAge).Truncate(time.Millisecond), AMR: p.AMR, ACR: p.ACR}
	v.hide(next.Token)
	return renewal{
		stored: func(ctx context.Context, s *directory.Store, after time.Time) error {
			next.Proved = laterOf(p.At, after).UTC()
			if err := directory.NameProven(ctx, d.setup.directory, s, former, p.AtProvider, &next); err != nil {
				return err
			}
			return s.RenewSession(ctx, former, next)
		},
		done: func(ctx context.Context) error {
			if err := directory.ConfirmProven(ctx, d.setup.directory, &next); err != nil {
				return err
			}
			v.credential.Put(browser.Escape(next.Token), next.Expires)
			return nil
		},
	}
}

// renewal implements sessionStrategy: done seals what was proven into a new token. It is done
// that returns directory.ErrNoToken if the request's token is of another session than here.
func (t *tokenStrategy) renewal(v *visit, here *currentUser, p directory.Proof) renewal {
	return renewal{
		stored: func(_ context.Context, _ *directory.Store, after time.Time) error {
			p.At = laterOf(p.At, after)
			return nil
		},
		done: func(ctx context.Context) error {
			token := v.credential.Token()
			claims, err := t.decode(ctx, token.Text, token.Spec)
			if err != nil {
				return err
			}
			t.track(claims)
			if claims.String(jwtclaims.SessionID) != here.sessionID {
				return directory.ErrNoToken
			}
			putAssurance(claims, p)
			if err := t.nameProven(v, claims, p.AtProvider); err != nil {
				return err
			}
			return t.seal(ctx, v, claims, life{})
		},
	}
}

// nameProven writes into claims what the provider of a proof calls the session, beside the
// names that it has. It does nothing if at is nil.
func (t *tokenStrategy) nameProven(v *visit, claims Claims, at *directory.AtProvider) error {
	if at == nil {
		return nil
	}
	provider, names := namesIn(claims)
	joined := at.Beside(names)
	if at.Provider == provider {
		return t.nameSession(v, joined, claims.String(jwtclaims.SessionID), provider, claims)
	}
	claims[jwtclaims.Provider] = joined.Claim(provider)
	return nil
}

// Ways to prove who the user of a session is, besides the kinds of second factors.
const (
	usePassword = "password"
	useProvider = "provider"
)

// proofWay is one way in which a user can prove who they are in a session.
type proofWay struct {
	Use      string `json:"use"`                // a kind of factor, usePassword or useProvider; empty: none
	Provider string `json:"provider,omitempty"` // its id, with useProvider
	Name     string `json:"name,omitempty"`     // of the provider
}

// params returns the parameters, name and value in turn, with which the page for a proof
// offers this way. It returns nil for the zero way.
func (w proofWay) params() []string {
	switch {
	case w.Use == "":
		return nil
	case w.Provider != "":
		return []string{"use", w.Use, "provider", w.Provider}
	}
	return []string{"use", w.Use}
}

// proving is a user who is asked for a proof.
type proving struct {
	here     *currentUser
	of       directory.EnrolmentOf
	ways     []proofWay
	way      proofWay // that is shown, or was used
	byFactor bool     // a second factor is asked for
	left     int      // tries
	back     string   // where the browser goes in the end
}

// provingOf returns the user of a request, and how the user can prove their identity. wanted
// is a word of wantedName. use and provider choose the way; an empty provider matches any. If
// none fits, the way is the first for GET /reauth, and else zero. provingOf returns a response
// instead if the browser has no session that could be renewed.
func provingOf(ctx context.Context, x *exchange, wanted, use, provider string) (*proving, *Response, error) {
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if err != nil {
		return nil, nil, err
	}
	if here == nil || here.isAdopted() {
		if asksForJSON(x.request) {
			return nil, noStore(jsonBytes(http.StatusUnauthorized, []byte("null"))), nil
		}
		return nil, &Response{Redirect: x.links.signIn(x.callbackURL)}, nil
	}
	p := &proving{here: here, of: pageHandle(x.setup, here.user.ID, here.mark().SessionID), byFactor: wanted == wantedName(true), back: x.callbackURL}
	if p.ways, err = waysToProve(ctx, x.setup, p); err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(p.ways, func(w proofWay) bool { return w.Use == use && (provider == "" || w.Provider == provider) }); i >= 0 {
		p.way = p.ways[i]
	} else if len(p.ways) > 0 && !x.isPost() && x.action == "reauth" {
		p.way = p.ways[0]
	}
	p.left, err = directory.TriesLeft(ctx, x.setup.directory, p.of)
	return p, nil, err
}

// waysToProve returns the ways that a user has to prove their identity, the strongest
// first. A mailed code is one only if no second factor is asked for, the user has a
// proven address and neither a factor nor a password, and the user's providers, if any,
// do not tell when the user signed in there.
func waysToProve(ctx context.Context, s *setup, p *proving) (ways []proofWay, err error) {
	u := &p.here.user
	kinds, err := kindsToProve(ctx, s, p)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		ways = append(ways, proofWay{Use: string(kind)})
	}
	if s.passwords != nil && !p.byFactor {
		stored, err := s.passwords.Directory.PasswordOf(ctx, u.ID)
		if err != nil {
			return nil, err
		}
		if stored != nil {
			ways = append(ways, proofWay{Use: usePassword})
		}
	}
	accounts, err := s.store.ListAccounts(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		at, ok := s.providers[a.Provider].(*oauthProvider)
		isListed := slices.ContainsFunc(ways, func(w proofWay) bool { return w.Provider == a.Provider })
		if ok && !isListed && at.OIDC && len(at.Checks) > 0 && (!p.byFactor || at.Assurance != nil) {
			ways = append(ways, proofWay{useProvider, at.ID, at.Name})
		}
	}
	if p.byFactor || s.mails.mail.Send == nil || slices.ContainsFunc(ways, func(w proofWay) bool { return w.Use != useProvider }) {
		return ways, nil
	}
	isOnly := len(ways) == 0
	if !isOnly {
		isOnly, err = directory.IsSilent(ctx, s.directory, p.of)
	}
	if err != nil || !isOnly {
		return ways, err
	}
	if isProven, err := directory.IsAddressProven(ctx, s.directory, u); err != nil || !isProven {
		return ways, err
	}
	return append(ways, proofWay{Use: string(FactorEmail)}), nil
}

// kindsToProve returns the kinds of factors that a user can prove, the strongest first.
// Unless a factor is asked for, those are passkeys and apps.
func kindsToProve(ctx context.Context, s *setup, p *proving) (kinds []FactorKind, err error) {
	if assures(s) {
		held, err := s.directory.Factors.Held(ctx, s.store, &p.here.user)
		if err != nil {
			return nil, err
		}
		kinds = held.Provable(s.config.Factors.Kinds, p.here.AMR)
	}
	hasPasskey := slices.Contains(kinds, FactorPasskey)
	if !p.byFactor {
		kinds = slices.DeleteFunc(kinds, func(k FactorKind) bool { return k != FactorTOTP })
		hasPasskey = false
		if s.store.Has(directory.AbilityAuthenticators) {
			keys, err := s.store.ListAuthenticators(ctx, p.here.user.ID)
			if err != nil {
				return nil, err
			}
			hasPasskey = len(keys) > 0
		}
	}
	kinds = slices.DeleteFunc(kinds, func(k FactorKind) bool { return k == FactorPasskey })
	if hasPasskey && passkeyProvider(s) != nil {
		kinds = append([]FactorKind{FactorPasskey}, kinds...)
	}
	return kinds, nil
}

// waysJSON returns the JSON for a script of how the user can prove their identity.
func waysJSON(p *proving) *Response {
	body, err := json.Marshal(struct {
		For  string     `json:"for"`
		Uses []proofWay `json:"uses"`
		Left int        `json:"left"`
	}{wantedName(p.byFactor), append([]proofWay{}, p.ways...), p.left})
	if err != nil {
		return configJSON()
	}
	return noStore(jsonBytes(http.StatusOK, body))
}

// checkedProof is what checkProof has found.
type checkedProof struct {
	second *directory.Second // the code that the proof uses up; nil: none
	amr    []string          // the methods of a right proof; nil: it is wrong
	wrong  fault.Detail      // why it is wrong
}

// checkProof checks the proof that a form brings. isKnown says that the user has signed in
// in this browser before.
func checkProof(ctx context.Context, x *exchange, p *proving, isKnown bool) (checkedProof, error) {
	s, u := x.setup, &p.here.user
	code := x.field("code")
	x.hide(code, x.field("password"))
	found := checkedProof{wrong: fault.FactorWrong}
	var err error
	switch kind := FactorKind(p.way.Use); {
	case p.way.Use == usePassword:
		at, ok := s.providers[s.passwords.Provider].(*passwordProvider)
		typed := x.field("password")
		if found.wrong = fault.PasswordWrong; !ok || typed == "" || len(typed) > longestField {
			return found, nil
		}
		shown, err := at.flows.CheckCurrent(ctx, u, typed, at.asker(ctx, s, &x.visit, &x.links))
		if err == nil && shown.OK {
			found.amr = []string{factor.Password}
		}
		return found, err
	case kind == FactorPasskey:
		found.amr, err = passkeyProvider(s).verifyFactor(ctx, x, proofMark(p.of.Handle), u.ID)
		if t := failure.TypeOf(err); t == ErrWebAuthnVerification || t == ErrInvalidCheck {
			s.log.Debug(ctx, x, err)
			return checkedProof{wrong: explain.DetailOf(err)}, nil
		}
		return found, err
	case kind == FactorEmail:
		found.second, err = directory.CheckMailCode(ctx, s.directory, &directory.Second{Handle: p.of.Handle, UserID: u.ID, Kind: kind}, code)
	default:
		found.second, found.wrong, err = s.directory.Factors.CheckSecond(ctx, p.of.Handle, &directory.Pending{UserID: u.ID, Kinds: []FactorKind{kind}}, directory.Shown{Kind: kind, Code: code, IsKnown: isKnown})
	}
	if found.second != nil {
		found.amr = factor.OfKind(FactorKind(p.way.Use))
	}
	return found, err
}

// proveAtProvider sends the browser to a provider, which has its user sign in there again
// and says when. It sets x.provider and x.query.
func proveAtProvider(ctx context.Context, x *exchange, p *proving) (*Response, error) {
	at, now := x.setup.providers[p.way.Provider], time.Duration(0)
	x.provider, x.query = at, url.Values{}
	ctx, err := withAsked(ctx, at, oneCall{maxAge: &now, stepUp: wantedName(p.byFactor), ask: oauth.Ask{Prompt: "login", LoginHint: p.here.user.Email}})
	if err != nil {
		return nil, err
	}
	out, err := at.begin(ctx, x)
	return out.response, err
}
