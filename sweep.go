package latchkey

import "context"

// Sweep removes the sessions, magic links and revocations that have expired, and
// says how many rows went. Nothing depends on it but the size of the tables:
// what has expired is dead anyway. Call it now and then, from one instance. It
// needs an Adapter that is a [SweepAdapter].
func (a *Auth) Sweep(ctx context.Context) (int, error) {
	v, err := a.caretaker(ctx)
	if err != nil {
		return 0, err
	}
	able, ok := v.store.a.(SweepAdapter)
	if !ok {
		return 0, lacks(v.store, "Sweep", "SweepAdapter")
	}
	return ask(ctx, v.store, "Sweep", func(ctx context.Context) (int, error) { return able.Sweep(ctx, v.now()) })
}
