package otp

import "github.com/latchkeyhq/latchkey/internal/fold"

// LongestTyped is the longest input in bytes that is looked at.
const LongestTyped = fold.LongestCode

// Typed returns what a user typed without what does not matter, as fold.Code does.
func Typed(text string) string { return fold.Code(text) }
