package latchkey

import "github.com/latchkeyhq/latchkey/internal/veil"

// hidden is embedded in every exported type that holds a secret, so that none
// of them can be printed, logged or encoded by accident. What is to
// leave the program on purpose has a form of its own: see [storage.AccountRecord].
type hidden = veil.Hidden
