package arch

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostWords is the length of a sentence that a reader takes in at once.
const mostWords = 30

// TestSentences counts the words of each sentence of the guides. Code, tables,
// headings and quotations in HTML are left out, and so is the page that fixes the
// wire protocol.
func TestSentences(t *testing.T) {
	for name, page := range guides(t) {
		if name == "docs/protocol.md" {
			continue
		}
		for _, sentence := range sentences(page) {
			if n := wordCount(sentence); n > mostWords {
				t.Errorf("%s has a sentence of %d words, want at most %d: %s", name, n, mostWords, sentence)
			}
		}
	}
}

var (
	listItem   = regexp.MustCompile(`^(?:[0-9]+\.|[-*]|>) +`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	emphasis   = regexp.MustCompile(`[*_]+`)
	sentenceOf = regexp.MustCompile(`[.!?]+["”’)]*(?:\s|$)`)
	countable  = regexp.MustCompile(`[\p{L}\p{N}]`)
)

// abbreviations end in a point and end no sentence.
var abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "No."}

// sentences returns the sentences of a page. A list item begins a new one, and an
// empty line, a table or a heading ends one.
func sentences(page string) (found []string) {
	var paragraph []string
	end := func() {
		found = append(found, split(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	for line := range strings.Lines(codeBlock.ReplaceAllString(page, "\n")) {
		line = strings.TrimSpace(line)
		item := listItem.FindString(line)
		if line == "" || item != "" || strings.ContainsAny(line[:1], "|#<") {
			end()
		}
		if line = line[len(item):]; line != "" && !strings.ContainsAny(line[:1], "|#<") {
			paragraph = append(paragraph, line)
		}
	}
	end()
	return found
}

// split cuts a paragraph into sentences. A span of code is one word.
func split(paragraph string) (found []string) {
	text := codeSpan.ReplaceAllString(paragraph, "code")
	text = emphasis.ReplaceAllString(linkTarget.ReplaceAllString(text, "$1"), "")
	from := 0
	for _, at := range sentenceOf.FindAllStringIndex(text, -1) {
		so := strings.TrimSpace(text[from:at[1]])
		if words := strings.Fields(so); len(words) > 0 && !slices.Contains(abbreviations, words[len(words)-1]) {
			found, from = append(found, so), at[1]
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		found = append(found, rest)
	}
	return found
}

// wordCount leaves out what has neither letter nor digit, such as a dash.
func wordCount(sentence string) (n int) {
	for word := range strings.FieldsSeq(sentence) {
		if countable.MatchString(word) {
			n++
		}
	}
	return n
}

func TestSentencesOfAPage(t *testing.T) {
	const page = "# A heading. Not counted\n\nOne `a. b` two. Three\n[four five](x.md), e.g. six (seven.) Eight\n\n" +
		"- nine\n- **ten.** Eleven – twelve\n\n```go\nx. y\n```\n| a table. | cells |\n> thirteen\n"
	want := []string{"One code two.", "Three four five, e.g. six (seven.)", "Eight", "nine", "ten.", "Eleven – twelve", "thirteen"}
	if got := sentences(page); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := wordCount("Eleven – twelve"); n != 2 {
		t.Errorf("counted %d words, want 2", n)
	}
}
