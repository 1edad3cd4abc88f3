package latchkey

import (
	"context"
	"net/http"
	"net/url"
)

// Protocol is how a service says who somebody is that speaks neither OAuth 2 nor
// OpenID Connect. Around it everything stays as it is: the callback has to bring
// the state that the browser was sent away with, which is good for one callback
// and gone before Receive is called. The provider's Authorization.URL is where
// browsers are led, for the policy of the sign-in page. The zero value is OAuth 2.
type Protocol struct {
	// Begin says where the browser goes. returnURL is the callback URL with the
	// parameter state; the service has to send the browser back to exactly
	// that, whatever it adds. An error is [ErrOAuthSignIn].
	Begin func(returnURL string) (to string, err error)
	// Receive says who came back to returnURL with params, its state among
	// them. None of params is to be believed before Receive has made sure that
	// it is from the service, and for returnURL. None is repeated. c is limited
	// in time and size like every call to a provider. The Params of the Grant
	// are filled in. An error that wraps [ErrOAuthCallback] says that the person
	// or the service declined.
	Receive func(ctx context.Context, c *http.Client, returnURL string, params url.Values) (Grant, error)
}
