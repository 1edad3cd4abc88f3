// Package jwtclaims reads and writes the registered claims that bound the life
// of a token (RFC 7519 section 4.1): exp, nbf, iat and jti. It works on the
// members of the payload as they stand in it.
package jwtclaims
