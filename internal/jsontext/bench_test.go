package jsontext_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
)

func BenchmarkMembers(b *testing.B) {
	b.ReportAllocs()
	payload, buffer := []byte(session), make([]jsontext.Member, 0, 16)
	for b.Loop() {
		if _, err := jsontext.Members(payload, buffer); err != nil {
			b.Fatal(err)
		}
	}
}
