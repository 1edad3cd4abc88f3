package jsonscan_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

func BenchmarkMembers(b *testing.B) {
	b.ReportAllocs()
	payload, buffer := []byte(session), make([]jsonscan.Member, 0, 16)
	for b.Loop() {
		if _, err := jsonscan.Members(payload, buffer); err != nil {
			b.Fatal(err)
		}
	}
}
