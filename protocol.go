package latchkey

import (
	"context"
	"net/http"
	"net/url"
)

// Protocol is how a service that speaks neither OAuth 2 nor OpenID Connect identifies a
// person. Everything around it stays as with [OAuth]: the callback has to bring the state
// that the browser was sent away with, which is good for one callback and used up before
// Receive is called. The provider's Authorization.URL is where browsers are sent, for the
// content security policy of the sign-in page. The zero value is OAuth 2; otherwise both
// functions must be set.
type Protocol struct {
	// Begin returns the URL that the browser is sent to. returnURL is the callback URL with
	// the parameter state; the service has to send the browser back to exactly that URL,
	// whatever parameters it adds. An error is [ErrOAuthSignIn].
	Begin func(returnURL string) (to string, err error)
	// Receive returns the identity of the person who came back to returnURL with params,
	// the state among them. Receive must not trust a parameter before it has verified
	// that the parameter is from the service and meant for returnURL. No parameter is
	// repeated. c is limited in time and size like every call to a provider. Latchkey fills
	// in the Params of the Grant. An error that wraps [ErrOAuthCallback] says that the person
	// or the service declined; any other without an [ErrorType] is [ErrCallbackRoute].
	Receive func(ctx context.Context, c *http.Client, returnURL string, params url.Values) (Grant, error)
}
