package jwt_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// TestDecodeJudgesLife has a row for each rule; internal/jwtclaims has every
// case of each.
func TestDecodeJudgesLife(t *testing.T) {
	now := time.Unix(1_000_000, 900_000_000)
	for _, tt := range []struct {
		policy  string
		payload string
		maxAge  time.Duration
		want    error
	}{
		{"alive", `{"iat":999999,"exp":1000001}`, 0, nil},
		{"R-089 expired 14 seconds ago", `{"exp":999986}`, 0, nil},
		{"R-089 expired 15 seconds ago", `{"exp":999985}`, 0, jwt.ErrExpired},
		{"begins in 16 seconds", `{"exp":2000000,"nbf":1000016}`, 0, jwt.ErrInvalid},
		{"R-088 no exp, young", `{"iat":999000}`, 0, nil},
		{"R-088 no exp, 30 days and 15 seconds old", `{"iat":-1592015}`, 0, jwt.ErrExpired},
		{"R-088 no exp, own lifetime over", `{"iat":999000}`, 985 * time.Second, jwt.ErrExpired},
		{"R-088 no exp and no iat", `{"sub":"a"}`, 0, jwt.ErrInvalid},
		{"R-088 exp a text", `{"exp":"2000000"}`, 0, jwt.ErrInvalid},
		{"R-088 exp null", `{"exp":null,"iat":999000}`, 0, jwt.ErrInvalid},
		{"the last of two exp counts", `{"exp":2000000,"exp":0}`, 0, jwt.ErrExpired},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			p := jwt.Params{Secrets: []string{secret}, Salt: salt, MaxAge: tt.maxAge, Time: func() time.Time { return now }}
			claims, err := jwt.Decode(seal(t, jwt.NewCodec(p.Secrets, salt), tt.payload), p)
			if err != tt.want || (claims == nil) != (err != nil) {
				t.Errorf("Decode = %v, %v, want %v", claims, err, tt.want)
			}
		})
	}
}

func TestPayloadsThatAreNoObject(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	for _, payload := range []string{"", "null", "[1]", "hello", `"text"`, "1", `{"exp":9999999999`, "{\"exp\":9999999999,\"a\":\"\xff\"}"} {
		t.Run("R-088 "+payload, func(t *testing.T) {
			claims, err := jwt.Decode(seal(t, c, payload), jwt.Params{Secrets: []string{secret}, Salt: salt})
			if err != jwt.ErrInvalid || claims != nil {
				t.Errorf("Decode = %v, %v, want ErrInvalid", claims, err)
			}
		})
	}
}
