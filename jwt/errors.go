package jwt

import (
	"errors"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

var (
	// ErrInvalid says that a token was not sealed with one of the secrets and
	// this salt, was changed since, holds no usable claims, or is not valid
	// yet. It is the same for every cause (form, key, authentication, padding,
	// claims), because a client that could tell them apart could find out the
	// content of a token by trying changed ones.
	ErrInvalid = jsonscan.ErrInvalid

	// ErrExpired says that a token is authentic, but the time until which it
	// was valid is over.
	ErrExpired = jwtclaims.ErrExpired

	// ErrNoToken says that a request carries no token, neither in the session
	// cookie nor in the Authorization header, or only some of the cookies that
	// a long token is cut into.
	ErrNoToken = errors.New("jwt: the request carries no token")

	// ErrNoSecret says that no secret was given to seal or open tokens with, or
	// that one in the list is blank. It is a fault of the configuration: a
	// blank secret is never used as a key.
	ErrNoSecret = errors.New("jwt: a secret is missing or blank")

	// ErrTooLong says that a payload (the claims as JSON) does not fit into a
	// token of [MaxLen] characters.
	ErrTooLong = errors.New("jwt: the payload is too long for a token")
)
