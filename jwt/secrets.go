package jwt

import "github.com/latchkeyhq/latchkey/internal/veil"

// hidden is embedded in what holds secrets, so that it cannot be printed,
// logged or encoded by accident.
type hidden = veil.Hidden
