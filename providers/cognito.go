package providers

import "github.com/latchkeyhq/latchkey"

// Cognito signs in with a user of an Amazon Cognito user pool. Its profile is a
// [profile.Cognito].
//
// Issuer is https://cognito-idp.{region}.amazonaws.com/{pool id}. If Issuer is empty,
// AUTH_COGNITO_ISSUER is used. The pool needs a domain, the app client the
// authorization code grant and the scopes openid, profile and email. Whether an
// e-mail is proven is for the pool to say: the claim email_verified counts. See
// https://docs.aws.amazon.com/cognito/latest/developerguide/.
func Cognito(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "cognito",
		Name:  "Cognito",
		OIDC:  true,
		Style: latchkey.Style{Color: "#C17B9E"},
	})
}
