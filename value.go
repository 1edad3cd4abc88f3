package latchkey

import (
	"encoding/json"
	"fmt"
)

// Value returns the member of m called key as a T: a claim of a token, a member
// of [Session].Extra, [User].Extra or a [Grant]'s profile, without a type
// assertion in sight.
//
//	granted, err := latchkey.Value[[]string](session.Extra, "permissions")
//
// A value that was decoded from JSON becomes a T as encoding/json would make
// it, so T may be a struct of the application's own. A member that is present and null
// becomes T's zero value, without an error. The error is ErrNoValue for a member that is
// absent, and names key when the value does not fit; with any error the result is T's
// zero value.
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

// Decode turns a set of claims, such as a provider's profile, into a struct T
// with json tags. It follows encoding/json: unknown members are ignored. Absent ones and
// null leave a field as it is. A member that does not fit its field is an error, such as a
// number out of range. With an error the result may be filled in part.
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
