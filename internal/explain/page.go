package explain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The markers around the part of docs/troubleshooting.md that is made here.
const (
	pageBegin = "<!-- begin: made from internal/explain -->\n"
	pageEnd   = "<!-- end -->\n"
)

// Page returns a copy of page (docs/troubleshooting.md) in which the part between the two
// markers is made anew from the explanations. It returns an error if page lacks a marker.
func Page(page []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(page, []byte(pageBegin))
	_, after, closed := bytes.Cut(rest, []byte(pageEnd))
	if !found || !closed {
		return nil, errors.New("the page lacks its markers")
	}
	return bytes.Join([][]byte{before, []byte(pageBegin), []byte(markdown()), []byte(pageEnd), after}, nil), nil
}

// markdown returns a heading for each detail, with its explanation.
func markdown() string {
	var b strings.Builder
	for _, t := range Texts() {
		fmt.Fprintf(&b, "\n### `%s`\n\n%s For the %s.\n\n", t.Detail, t.What, t.Party)
		for _, cause := range t.Causes {
			fmt.Fprintf(&b, "- %s\n", cause)
		}
		fmt.Fprintf(&b, "\n%s\n", t.Cure)
		if cure := OperatorCure(t.Detail); cure != "" {
			fmt.Fprintf(&b, "\nFor the operator: %s\n", cure)
		}
	}
	b.WriteString("\n")
	return b.String()
}
