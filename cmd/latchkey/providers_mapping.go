package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// profileMapping says from which members of a profile each field of a user is made. Paths
// are those of profile_fields. Members joined by + stand one after the other, and what
// follows "else" counts where the members before it are missing. null: the field comes
// from no member.
type profileMapping struct {
	ID    *string `json:"id"`
	Name  *string `json:"name"`
	Email *string `json:"email"`
	Image *string `json:"image"`
}

// mappingOf finds out from which members of a profile identify makes a user. t is the
// type of the profile. mappingOf calls identify with made-up profiles in which every
// value is different, each time without the values that were used before. It returns nil
// if identify returns an error. A nil identify means the default mapping.
func mappingOf(identify func(latchkey.Grant) (latchkey.Identity, error), t reflect.Type) *profileMapping {
	if identify == nil {
		return &profileMapping{
			ID: orNull("sub, else id"), Name: orNull("name, else nickname, else preferred_username"),
			Email: orNull("email"), Image: orNull("picture"),
		}
	}
	probe := probe{missing: map[string]bool{}}
	var found [4][]string
	for range 8 { // more alternatives than any has
		probe.paths = nil
		profile, _ := probe.value(t, "").(map[string]any)
		who, err := identify(latchkey.Grant{Profile: profile})
		if err != nil {
			return nil
		}
		used := false
		for i, text := range []string{who.Subject, who.Name, who.Email, who.Image} {
			if paths := probe.in(text); len(paths) > 0 {
				found[i] = append(found[i], strings.Join(paths, " + "))
				for _, path := range paths {
					probe.missing[path], used = true, true
				}
			}
		}
		if !used {
			break
		}
	}
	return &profileMapping{ID: choice(found[0]), Name: choice(found[1]), Email: choice(found[2]), Image: choice(found[3])}
}

// choice returns the alternatives as one text, "a, else b", or nil if there are none.
func choice(alternatives []string) *string { return orNull(strings.Join(alternatives, ", else ")) }

// probe makes profiles in which each value holds a mark, a number that stands for its
// path.
type probe struct {
	missing map[string]bool
	paths   []string // of the values, each with its place as its mark
}

// mark returns a new mark for the value at path.
func (p *probe) mark(path string) string {
	p.paths = append(p.paths, path)
	return strconv.Itoa(770000 + len(p.paths))
}

// in returns the paths whose marks are in text.
func (p *probe) in(text string) (paths []string) {
	for i, path := range p.paths {
		if strings.Contains(text, strconv.Itoa(770001+i)) {
			paths = append(paths, path)
		}
	}
	return paths
}

// value returns a made-up value of type t for the member of a profile at path. Texts and
// numbers hold the mark of the path, so that the result of a mapping shows which members
// it took. It returns nil for a path that the probe leaves out.
func (p *probe) value(t reflect.Type, path string) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p.missing[path] {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return p.object(t, path)
	case reflect.Slice:
		return []any{p.value(t.Elem(), path+"[]")}
	case reflect.Map:
		return map[string]any{}
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return json.Number(p.mark(path))
	case reflect.String:
		if t.PkgPath() == "encoding/json" {
			return json.Number(p.mark(path))
		}
	}
	return "https://mark.example/" + p.mark(path)
}

// object returns a made-up object of a struct type, without the members that are left
// out. A struct without members of its own is a time, and becomes a text.
func (p *probe) object(t reflect.Type, path string) any {
	members := map[string]any{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		if value := p.value(f.Type, strings.TrimPrefix(fmt.Sprintf("%s.%s", path, name), ".")); value != nil {
			members[name] = value
		}
	}
	if len(members) == 0 {
		return "https://mark.example/" + p.mark(path) // a time
	}
	return members
}
