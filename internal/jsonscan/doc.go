// Package jsonscan writes single JSON strings and reads the members of one JSON
// object, without building a map and as far as possible without allocating.
// What it reads may come from a stranger: it is as strict as RFC 8259, bounded
// in depth, and takes time in proportion to the length of the text.
package jsonscan
