package latchkey

import (
	"encoding/json"
	"fmt"
)

// Value returns the member of m called key as a T, so that no type assertion is needed: a
// claim of a token, or a member of [Session].Extra, [User].Extra or a [Grant]'s profile.
//
//	granted, err := latchkey.Value[[]string](session.Extra, "permissions")
//
// A value that is a T already is returned as it is: a map or slice is that of m, and no
// copy. Any other value becomes a T as encoding/json would make it, so T may be a struct
// of the application's own. A member that is present and null becomes T's zero value,
// without an error. The error is ErrNoValue for a member that is absent; for a value that
// does not fit it names key. With any error the result is T's zero value.
func Value[T any, M ~map[string]any](m M, key string) (T, error) {
	var out T
	v, ok := m[key]
	if !ok {
		return out, fmt.Errorf("latchkey: %q: %w", key, ErrNoValue)
	}
	if t, ok := v.(T); ok {
		return t, nil
	}
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		var none T // a part of it may have been filled in
		return none, fmt.Errorf("latchkey: %q holds a %T, which does not fit in a %T", key, v, out)
	}
	return out, nil
}

// Decode turns a set of claims, such as a provider's profile, into a struct T with json
// tags. It follows encoding/json: unknown members are ignored, and a field whose member
// is absent or null keeps its zero value. A member that does not fit its field is an
// error, such as a number out of range. With an error the result may be filled in part.
func Decode[T any, M ~map[string]any](m M) (T, error) {
	var out T
	raw, err := json.Marshal(map[string]any(m))
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return out, fmt.Errorf("latchkey: the members do not fit in a %T: %w", out, err)
	}
	return out, nil
}
