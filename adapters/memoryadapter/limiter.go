package memoryadapter

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/storage"
)

// NewLimiter returns a limiter in this process's memory, which several sites of
// one process can share through latchkey.Limits.Limiter. It keeps 65,536 keys, in
// 16 MiB at most. When it is full it first evicts the keys of a client that has taken many
// of them (the library's keys name their client), and then those that expire soonest. A
// nil now is time.Now.
func NewLimiter(now func() time.Time) storage.ReturningLimiter { return limit.NewMemory(now) }
