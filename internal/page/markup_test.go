package page

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// node is one element of a page. Text directly inside an element is a child
// without a name.
type node struct {
	name  string
	attrs []attr
	text  string
	kids  []*node
}

type attr struct{ name, value string }

func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

func (n *node) has(name string) bool {
	return slices.ContainsFunc(n.attrs, func(a attr) bool { return a.name == name })
}

// all are the elements of a name below n, in order.
func (n *node) all(name string) []*node {
	var found []*node
	for _, kid := range n.kids {
		if kid.name == name {
			found = append(found, kid)
		}
		found = append(found, kid.all(name)...)
	}
	return found
}

// words are what a person reads.
func (n *node) words() string {
	if n.name == "style" || n.name == "script" || n.name == "head" {
		return ""
	}
	parts := []string{n.text}
	for _, kid := range n.kids {
		parts = append(parts, kid.words())
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

var (
	openTag  = regexp.MustCompile(`^<([a-z][a-z0-9]*)((?:\s+[a-zA-Z][-a-zA-Z]*(?:="[^"<]*")?)*)\s*(/?)>`)
	closeTag = regexp.MustCompile(`^</([a-z][a-z0-9]*)>`)
	oneAttr  = regexp.MustCompile(`\s+([a-zA-Z][-a-zA-Z]*)(?:="([^"<]*)")?`)
	empty    = []string{"meta", "link", "input", "img"}
)

// parse reads a page by rules that are stricter than those of browsers: what
// it accepts has one meaning only. Values are quoted, elements nest, nothing is
// left open, and a bare < is nowhere.
func parse(page string) (*node, error) {
	rest, ok := strings.CutPrefix(page, "<!doctype html>\n")
	if !ok {
		return nil, fmt.Errorf("no doctype")
	}
	root := &node{}
	open := []*node{root}
	for rest != "" {
		top := open[len(open)-1]
		if m := closeTag.FindStringSubmatch(rest); m != nil {
			if top.name != m[1] {
				return nil, fmt.Errorf("</%s> closes <%s>", m[1], top.name)
			}
			open, rest = open[:len(open)-1], rest[len(m[0]):]
			continue
		}
		if m := openTag.FindStringSubmatch(rest); m != nil {
			kid := &node{name: m[1]}
			for _, a := range oneAttr.FindAllStringSubmatch(m[2], -1) {
				if kid.has(a[1]) {
					return nil, fmt.Errorf("<%s> has %s twice", kid.name, a[1])
				}
				kid.attrs = append(kid.attrs, attr{a[1], html.UnescapeString(a[2])})
			}
			top.kids, rest = append(top.kids, kid), rest[len(m[0]):]
			if m[3] == "" && !slices.Contains(empty, kid.name) {
				open = append(open, kid)
			}
			continue
		}
		end := strings.IndexByte(rest, '<')
		if end == 0 {
			return nil, fmt.Errorf("not markup: %.40q", rest)
		}
		if end < 0 {
			end = len(rest)
		}
		top.kids, rest = append(top.kids, &node{text: html.UnescapeString(rest[:end])}), rest[end:]
	}
	if len(open) != 1 {
		return nil, fmt.Errorf("<%s> stays open", open[len(open)-1].name)
	}
	return root, nil
}

// shape is a page without its values: elements and the names of attributes.
func (n *node) shape() string {
	var b strings.Builder
	b.WriteString(n.name)
	for _, a := range n.attrs {
		b.WriteString(" " + a.name)
	}
	b.WriteByte('(')
	for _, kid := range n.kids {
		if kid.name != "" {
			b.WriteString(kid.shape())
		}
	}
	b.WriteByte(')')
	return b.String()
}

// outline is a page as a person would note it down. Drawings and styles are
// named and not spelled out.
func (n *node) outline(b *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	if words := strings.TrimSpace(n.text); words != "" {
		fmt.Fprintf(b, "%s%q\n", indent, words)
	}
	if n.name != "" {
		b.WriteString(indent + n.name)
		for _, a := range n.attrs {
			fmt.Fprintf(b, " %s=%q", a.name, a.value)
		}
		b.WriteByte('\n')
		depth++
	}
	if n.name == "svg" || n.name == "style" || n.name == "script" {
		return
	}
	for _, kid := range n.kids {
		kid.outline(b, depth)
	}
}
