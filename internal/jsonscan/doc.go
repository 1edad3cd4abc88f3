// Package jsonscan writes single JSON strings and reads the members of one JSON
// object, without building a map and as far as possible without allocating.
// The text may come from an unauthenticated client, so the package is as strict as
// RFC 8259, bounds the depth, and takes time in proportion to the length of the
// text.
package jsonscan
