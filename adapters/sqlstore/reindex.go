package sqlstore

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// Reindex writes the folded names that users are searched by, where they are missing or
// belong to an earlier name, and returns how many it wrote. Programs from before the
// column do not write it, so call Reindex again when none of them runs any more. It works
// in small batches, in no transaction, while other programs write. An error leaves the
// batches that are done. In a layout without the column users.name_key it does nothing.
// It needs the tables that [Migrate] makes.
func Reindex(ctx context.Context, conn Conn, d Dialect, l Layout) (int, error) {
	g := l.grammar(d)
	if !g.has("users.name_key") {
		return 0, nil
	}
	total, after := 0, ""
	for {
		some, last, err := reindexBatch(ctx, conn, g, after)
		total += some
		if err != nil || last == "" {
			return total, fail(ctx, "reindex", err)
		}
		after = last
	}
}

// reindexed is how many users one batch of Reindex looks at.
const reindexed = 500

// reindexBatch corrects the folded names of at most reindexed users, in the order of
// their ids, from the first id after after. An empty after is the beginning. It returns
// how many names it wrote, and the last id that it looked at, or "" if no users are left.
func reindexBatch(ctx context.Context, conn Conn, g grammar, after string) (mended int, last string, err error) {
	where, args := "", []any{reindexed}
	if after != "" {
		where, args = ` WHERE {users.id} > ?`, []any{after, reindexed}
	}
	type stale struct{ id, name string }
	var found []stale
	n := 0
	list := g.sql(`SELECT ` + g.readID("users.id") + `, COALESCE({users.name}, ''), COALESCE({users.name_key}, '') FROM {users}` + where + ` ORDER BY {users.id} LIMIT ?`)
	err = conn.Each(ctx, list, args, func(scan func(...any) error) error {
		var s stale
		var key string
		err := scan(&s.id, &s.name, &key)
		if key != storage.FoldName(s.name) {
			found = append(found, s)
		}
		n, last = n+1, s.id
		return err
	})
	if err != nil {
		return 0, "", err
	}
	mend := g.sql(g.update("users") + `{users.name_key} = ? WHERE {users.id} = ? AND COALESCE({users.name}, '') = ?`)
	for _, s := range found {
		n, err := conn.Exec(ctx, mend, append(g.touches("users"), nameKey(s.name), s.id, s.name)...)
		if err != nil {
			return mended, "", err
		}
		mended += int(n)
	}
	if n < reindexed {
		last = ""
	}
	return mended, last, nil
}
