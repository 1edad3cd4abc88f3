package latchkeytest

import "github.com/latchkeyhq/latchkey/internal/veil"

// hidden is embedded in what holds secrets, so that the output of a test that
// failed shows none.
type hidden = veil.Hidden
