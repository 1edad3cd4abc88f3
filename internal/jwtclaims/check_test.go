package jwtclaims_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

func TestLife(t *testing.T) {
	now := time.Unix(1_000_000, 900_000_000)
	for _, tt := range []struct {
		policy  string
		payload string
		maxAge  time.Duration
		want    error
	}{
		{"alive", `{"iat":999999,"exp":1000001}`, 0, nil},
		{"R-089 expired 14 seconds ago", `{"exp":999986}`, 0, nil},
		{"R-089 expired 15 seconds ago", `{"exp":999985}`, 0, jwtclaims.ErrExpired},
		{"R-089 expired 15 seconds ago, with a fraction to spare", `{"exp":999985.5}`, 0, nil},
		{"R-089 expired long ago", `{"exp":0}`, 0, jwtclaims.ErrExpired},
		{"R-089 negative", `{"exp":-5}`, 0, jwtclaims.ErrExpired},
		{"far future", `{"exp":1e15}`, 0, nil},
		{"begins in 15 seconds", `{"exp":2000000,"nbf":1000015}`, 0, nil},
		{"begins in 16 seconds", `{"exp":2000000,"nbf":1000016}`, 0, jsonscan.ErrInvalid},
		{"iat does not matter beside exp", `{"exp":2000000,"iat":5000000}`, 0, nil},
		{"R-088 no exp, young", `{"iat":999000}`, 0, nil},
		{"R-088 no exp, 30 days and 14 seconds old", `{"iat":-1592014}`, 0, nil},
		{"R-088 no exp, 30 days and 15 seconds old", `{"iat":-1592015}`, 0, jwtclaims.ErrExpired},
		{"R-088 no exp, own lifetime", `{"iat":999000}`, 1014 * time.Second, nil},
		{"R-088 no exp, own lifetime over", `{"iat":999000}`, 985 * time.Second, jwtclaims.ErrExpired},
		{"R-088 no exp, from the future", `{"iat":1000016}`, 0, jsonscan.ErrInvalid},
		{"R-088 no exp and no iat", `{"sub":"a"}`, 0, jsonscan.ErrInvalid},
		{"R-088 empty", `{}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp a text", `{"exp":"2000000"}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp null", `{"exp":null,"iat":999000}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp true", `{"exp":true}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp a list", `{"exp":[2000000]}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp an object", `{"exp":{}}`, 0, jsonscan.ErrInvalid},
		{"R-088 exp beyond all numbers", `{"exp":1e999}`, 0, jsonscan.ErrInvalid},
		{"R-088 iat a text", `{"exp":2000000,"iat":"1"}`, 0, jsonscan.ErrInvalid},
		{"R-088 iat null", `{"exp":2000000,"iat":null}`, 0, jsonscan.ErrInvalid},
		{"R-088 nbf a text", `{"exp":2000000,"nbf":"1"}`, 0, jsonscan.ErrInvalid},
		{"R-088 nbf false", `{"exp":2000000,"nbf":false}`, 0, jsonscan.ErrInvalid},
		{"R-088 a wrong type beats expiry", `{"exp":0,"nbf":""}`, 0, jsonscan.ErrInvalid},
		{"the last of two exp counts", `{"exp":2000000,"exp":0}`, 0, jwtclaims.ErrExpired},
		{"sixteen digits", `{"exp":1000000000000000000}`, 0, nil},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			if err := jwtclaims.Check(mustMembers(t, tt.payload), now, tt.maxAge); err != tt.want {
				t.Errorf("Check = %v, want %v", err, tt.want)
			}
		})
	}
}

// TestInstantIsInUTC: in a zone of the machine the last instant would be of the year
// 10000, which JSON has no form for.
func TestInstantIsInUTC(t *testing.T) {
	at, ok := jwtclaims.Instant(253402300799)
	if !ok || at.Year() != 9999 || at.Location() != time.UTC {
		t.Errorf("%v, %t", at, ok)
	}
}
