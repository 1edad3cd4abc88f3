package providers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// leaf is a value in a profile that is neither an object nor a list.
type leaf struct {
	path  string // such as user.emails.0
	value any
}

// leaves are all values of a profile, in a fixed order.
func leaves(profile latchkey.Claims) (all []leaf) {
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				walk(strings.TrimPrefix(path+"."+name, "."), value[name])
			}
		case []any:
			for i, inner := range value {
				walk(path+"."+strconv.Itoa(i), inner)
			}
		default:
			all = append(all, leaf{path, value})
		}
	}
	walk("", map[string]any(profile))
	return all
}

func textOf(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// removed is what with takes for a member that is not there.
type removed struct{}

// with is a copy of the profile with another value at a path.
func with(profile latchkey.Claims, path string, value any) latchkey.Claims {
	var change func(in any, names []string) any
	change = func(in any, names []string) any {
		if len(names) == 0 {
			return value
		}
		if list, ok := in.([]any); ok {
			list = slices.Clone(list)
			i, _ := strconv.Atoi(names[0])
			if list[i] = change(list[i], names[1:]); list[i] == (removed{}) {
				list[i] = nil
			}
			return list
		}
		object := maps.Clone(in.(map[string]any))
		for i := range names { // names of members may have dots in them
			name := strings.Join(names[:i+1], ".")
			inner, there := object[name]
			if !there {
				continue
			}
			if object[name] = change(inner, names[i+1:]); object[name] == (removed{}) {
				delete(object, name)
			}
			break
		}
		return object
	}
	return change(map[string]any(profile), strings.Split(path, ".")).(map[string]any)
}

// another is a value of the same type.
func another(value any) any {
	switch value := value.(type) {
	case json.Number:
		return json.Number(value.String() + "7")
	case bool:
		return !value
	}
	return "https://changed.example/x"
}
