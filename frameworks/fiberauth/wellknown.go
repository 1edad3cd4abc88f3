package fiberauth

import (
	"context"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// RelatedOrigins answers GET /.well-known/webauthn, as
// [latchkey.Auth.RelatedOrigins] says.
//
//	app.Get("/.well-known/webauthn", site.RelatedOrigins())
func (a *Auth) RelatedOrigins() fiber.Handler { return a.wellKnown(a.core.RelatedOrigins) }

// PasskeyEndpoints answers GET /.well-known/passkey-endpoints by page, a path or URL of the
// site; empty: the account page. See [latchkey.Auth.PasskeyEndpoints].
//
//	app.Get("/.well-known/passkey-endpoints", site.PasskeyEndpoints(""))
func (a *Auth) PasskeyEndpoints(page string) fiber.Handler {
	return a.wellKnown(func(ctx context.Context, r *latchkey.Request) (*latchkey.Response, error) {
		return a.core.PasskeyEndpoints(ctx, r, page)
	})
}

// wellKnown returns a handler that sends the response of answer. An error of answer,
// which has been logged, becomes status 500.
func (a *Auth) wellKnown(answer func(context.Context, *latchkey.Request) (*latchkey.Response, error)) fiber.Handler {
	return func(c fiber.Ctx) error {
		ctx, l := a.attach(c)
		res, err := answer(ctx, l.head(c))
		if err != nil {
			return fiber.ErrInternalServerError
		}
		return a.send(ctx, c, res)
	}
}
