package jwtclaims_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// session is a payload as a sign-in leaves it.
const session = `{"name":"Alice Example","email":"alice@example.com","picture":null,"sub":"a3bb189e-8bf9-4c5c-9d5e-000000000000","iat":1800000000,"exp":1802592000,"jti":"0e37df36-f698-4b5c-8e10-9b1f9f0a0a0a"}    `

// BenchmarkCheck includes the reading, without which there is nothing to check.
func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	payload, buffer := []byte(session), make([]jsonscan.Member, 0, 16)
	for b.Loop() {
		members, err := jsonscan.Members(payload, buffer)
		if err != nil || jwtclaims.Check(members, time.Unix(1800000000, 0), 0) != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendIssued(b *testing.B) {
	b.ReportAllocs()
	members := mustMembers(b, session)
	buffer := make([]byte, 0, 512)
	for b.Loop() {
		buffer = jwtclaims.AppendIssued(buffer[:0], members, time.Unix(1800000000, 0), 0)
	}
}
