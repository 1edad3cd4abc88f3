package otp

import "github.com/latchkeyhq/latchkey/internal/fold"

// LongestTyped is the longest input in bytes that is looked at.
const LongestTyped = fold.LongestCode

// Typed returns a code that a user typed, without spaces and hyphens and with ASCII
// digits, as fold.Code does. For text that is longer than [LongestTyped] it returns "".
func Typed(text string) string { return fold.Code(text) }
