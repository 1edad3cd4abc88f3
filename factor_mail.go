package latchkey

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/page"
)

// Mails about second factors, and the page of recovery codes.

// askerFor returns the client of a request, for mails to the user with the id userID.
func askerFor(s *setup, ctx context.Context, v *visit, userID string) asker {
	return asker{
		Requester: s.requesterOf(ctx, v, func(k browser.Known) bool { return isKnownFor(ctx, s, k, userID) }),
		language:  s.languageOf(ctx, v),
	}
}

// sendCode answers POST /factor?do=send: it mails a code for the sign-in that waits,
// after the answer. The answer is the same if none is mailed, as to a user whose address
// is not proven.
func sendCode(ctx context.Context, x *exchange, handle string, p *directory.Pending) (*Response, error) {
	s := x.setup
	home := x.home()
	s.mails.sendLater(ctx, askerFor(s, ctx, &x.visit, p.UserID), func(ctx context.Context) (outgoing, error) {
		u, err := s.store.User(ctx, p.UserID)
		if err != nil || u.Email == "" || u.EmailVerified.IsZero() || !slices.Contains(p.Kinds, FactorEmail) {
			return outgoing{}, err
		}
		code, expires, err := directory.NewMailCode(ctx, s.directory, handle, p)
		return outgoing{Message: Message{Kind: MessageFactorCode, To: u.Email, URL: home, Code: code, Expires: expires}, UserID: u.ID}, err
	})
	if asksForJSON(x.request) {
		return factorJSON(p), nil
	}
	return &Response{Redirect: x.url("factor?use=email&done=send")}, nil
}

// sendProofCode answers POST /reauth?do=send: it mails a code to the user of a session,
// after the answer. The answer is the same if none is mailed, because the user cannot
// prove a factor by mail or has no tries left.
func sendProofCode(s *setup, ctx context.Context, v *visit, l *links, p *proving) (*Response, error) {
	home, user := l.home(), p.here.user
	mayMail := slices.ContainsFunc(p.ways, func(w proofWay) bool { return w.Use == string(FactorEmail) })
	if mayMail && p.left > 0 {
		s.mails.sendLater(ctx, askerFor(s, ctx, v, user.ID), func(ctx context.Context) (outgoing, error) {
			code, expires, err := directory.NewMailCode(ctx, s.directory, p.of.Handle, &directory.Pending{UserID: user.ID})
			return outgoing{Message: Message{Kind: MessageFactorCode, To: user.Email, URL: home, Code: code, Expires: expires}, UserID: user.ID}, err
		})
	}
	if asksForJSON(v.request) {
		return waysJSON(p), nil
	}
	return &Response{Redirect: reauthURL(l, p.byFactor, p.back, "use", string(FactorEmail), "done", "send")}, nil
}

// noticeUser mails m to a user after the answer, and sets its To and URL. It mails
// nothing if the site sends no mails, or if the user's address is neither proven nor
// vouched for by an account.
func noticeUser(ctx context.Context, x *exchange, userID string, m Message) {
	s := x.setup
	if s.mails.mail.Send == nil {
		return
	}
	if m.URL = x.home(); s.config.AccountPage.Enabled {
		m.URL = x.url("account")
	}
	s.mails.sendLater(ctx, askerFor(s, ctx, &x.visit, userID), func(ctx context.Context) (outgoing, error) {
		u, err := s.store.User(ctx, userID)
		if err != nil {
			return outgoing{}, err
		}
		if isProven, err := directory.IsAddressProven(ctx, s.directory, &u); err != nil || !isProven {
			return outgoing{}, err
		}
		m.To = u.Email
		return outgoing{Message: m, UserID: u.ID}, nil
	})
}

// maskedName returns an e-mail address with only the first letter and the domain left, so
// that others learn little of it. It returns any other name as it is.
func maskedName(name string) string {
	local, domain, isAddress := strings.Cut(name, "@")
	if !isAddress || local == "" {
		return name
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "•••@" + domain
}

// factorJSON returns the JSON for a script of what the sign-in waits for.
func factorJSON(p *directory.Pending) *Response {
	kinds := p.Kinds
	if len(p.Secret) > 0 {
		kinds = []FactorKind{FactorTOTP}
	}
	body, err := json.Marshal(struct {
		Kinds    []FactorKind `json:"kinds"`
		Use      FactorKind   `json:"use"`
		Remember bool         `json:"remember"`
		Expires  time.Time    `json:"expires"`
	}{Kinds: kinds, Use: kinds[0], Remember: len(p.Secret) == 0 && !p.Enrols, Expires: p.Expires})
	if err != nil {
		return configJSON()
	}
	return noStore(jsonBytes(http.StatusOK, body))
}

// enrolPage returns the page that sets up the authenticator app of e. It completes view
// with the secret, its image and the host.
func enrolPage(ctx context.Context, s *setup, v *visit, l *links, view page.Enrol, e *directory.Enrolment) (*Response, error) {
	uri := otp.URI(issuer(s, l), e.Account, e.Secret)
	v.hide(otp.Text(e.Secret), otp.Grouped(otp.Text(e.Secret)))
	pages := s.pagesFor(ctx, v)
	image, err := otp.SVG(uri, pages.Text("enrol.image"))
	if err != nil {
		return nil, err
	}
	view.Host, view.URI, view.Image, view.Secret = l.origin.Host(), uri, image, otp.Grouped(otp.Text(e.Secret))
	view.FormOrigins = s.formOrigins(l, "")
	return pageResponse(pages.Enrol(view))
}

// days returns d in whole days, rounded down; a negative d is zero.
func days(d time.Duration) int { return max(0, int(d/(24*time.Hour))) }

// codesPage returns the page that shows recovery codes, and then leads to the URL next.
func codesPage(ctx context.Context, x *exchange, codes []string, next string) (*Response, error) {
	x.hide(codes...)
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Codes(page.Codes{
		CSRFToken: x.csrfToken, Action: x.url("factor?do=codes&callbackUrl=" + url.QueryEscape(next)), Codes: codes, Host: x.origin.Host(),
		FormOrigins: x.setup.formOrigins(&x.links, next),
	}))
}
