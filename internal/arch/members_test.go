package arch

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// memberLine is a field or a method in a list of the API.
	memberLine = regexp.MustCompile(`: (?:type (\w+)(?:\[[^]]*\])? (?:struct|interface), |func \(\w* ?\*?(\w+)(?:\[[^]]*\])?\) )(\w+)(.*)$`)

	aliasLine = regexp.MustCompile(`: type (\w+) = (?:\w+\.)?(\w+)$`)
	quoted    = regexp.MustCompile("`[^`\n]+`")

	// dotted is such as Config.Session in a text, with a package before it or without.
	dotted = regexp.MustCompile(`(?:^|[^\w./])(?:[a-z]\w*\.)?([A-Z]\w*)\.([A-Z]\w*)`)
)

// membersOfAPI returns the fields and methods of all exported types. What a type embeds is
// its own, a group of Config is known by its field, too, and an alias by both names.
func membersOfAPI(t *testing.T) map[string]map[string]bool {
	members, embeds := map[string]map[string]bool{}, map[string][]string{}
	for _, lines := range apiLists(t) {
		for _, line := range lines {
			if m := aliasLine.FindStringSubmatch(line); m != nil {
				embeds[m[1]] = append(embeds[m[1]], m[2])
			}
			m := memberLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			of, name, rest := m[1]+m[2], m[3], strings.TrimSpace(m[4])
			if members[of] == nil {
				members[of] = map[string]bool{}
			}
			members[of][name] = true
			switch {
			case rest == "":
				embeds[of] = append(embeds[of], name)
			case of == "Config":
				embeds[name] = append(embeds[name], rest)
			}
		}
	}
	for range 3 { // as deep as they embed each other
		for of, parts := range embeds {
			for _, part := range parts {
				for name := range members[part] {
					if members[of] == nil {
						members[of] = map[string]bool{}
					}
					members[of][name] = true
				}
			}
		}
	}
	return members
}

// namesNothing returns the first text in code quotes that names a member that an exported
// type has not, or "".
func namesNothing(members map[string]map[string]bool, text string) string {
	for _, code := range quoted.FindAllString(text, -1) {
		for _, m := range dotted.FindAllStringSubmatch(strings.Trim(code, "`"), -1) {
			if known := members[m[1]]; known != nil && !known[m[2]] {
				return code
			}
		}
	}
	return ""
}

// TestTextsNameWhatIsThere is R-852: where a guide, or a text of `latchkey explain`, names
// a field or a method of a type, there is one. Only the page for people who upgrade has
// former names.
func TestTextsNameWhatIsThere(t *testing.T) {
	members := membersOfAPI(t)
	if code := namesNothing(members, "Compare `WebAuthn.RPID` with `Site.URL`."); code != "`WebAuthn.RPID`" || len(members) < 200 {
		t.Fatalf("%d types; of a wrong name and a right one %q is wrong", len(members), code)
	}
	members["Request"]["Context"] = true // of net/http
	watch(t, func(path string) {
		name := filepath.ToSlash(strings.TrimPrefix(path, root))
		if name = strings.TrimPrefix(name, "/"); name == "docs/upgrading.md" || !isGuide(name) && name != "CHANGELOG.md" && !strings.HasPrefix(name, "internal/explain/texts") {
			return
		}
		if code := namesNothing(members, read(t, path)); code != "" {
			t.Errorf("R-852 %s: there is no %s", name, code)
		}
	})
}
