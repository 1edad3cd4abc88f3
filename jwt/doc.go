// Package jwt makes and reads the sealed tokens that Latchkey keeps in cookies.
//
// A token is a compact JWE (RFC 7516) around a JSON object: encrypted and
// authenticated with A256CBC-HS512 under a key derived from the application's
// secret and a salt, the salt being the name of the cookie. Tokens made here
// are opened by @auth/core and the other way round.
//
// Most programs need one function: [GetToken] reads the token of a request.
// [Encode] and [Decode] make and read single tokens. They derive their keys
// anew on every call, about 10 µs; a program that handles many tokens keeps a
// [Codec], which derives each key once.
//
// The tokens are meant for the application that issued them. They carry no
// audience, cannot be verified without the secret, and are no substitute for
// access tokens of an identity provider.
package jwt
