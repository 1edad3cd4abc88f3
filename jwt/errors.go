package jwt

import "errors"

var (
	// ErrInvalid says that a token is not one of ours. It is the same for every cause (form, key,
	// authentication, padding, claims), because a caller who could tell them apart could be an oracle.
	ErrInvalid = errors.New("jwt: the token is not valid")

	// ErrExpired says that a token is authentic but its life has ended.
	ErrExpired = errors.New("jwt: the token has expired")

	// ErrNoToken says that a request carries no token, or only fragments of one.
	ErrNoToken = errors.New("jwt: the request carries no token")

	// ErrNoSecret says that no secret was given, or that one in the list is blank. It is a fault of
	// the configuration: a blank secret is never used as a key.
	ErrNoSecret = errors.New("jwt: a secret is missing or blank")

	// ErrTooLong says that a payload does not fit into a token of MaxLen characters.
	ErrTooLong = errors.New("jwt: the payload is too long for a token")
)
