package jwt_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// A page outside the library asks who is signed in.
func ExampleGetToken() {
	p := jwt.TokenParams{Secrets: []string{"keep-this-secret-and-at-least-32-long"}, CookieName: "authjs.session-token"}

	whoami := func(r *http.Request) string {
		claims, err := jwt.GetToken(r.Header, p)
		if errors.Is(err, jwt.ErrNoToken) {
			return "nobody is signed in"
		}
		if err != nil {
			return "that token is no good"
		}
		return claims.String("name")
	}

	token, err := jwt.Encode(jwt.Claims{"name": "Alice"}, jwt.Params{Secrets: p.Secrets, Salt: p.CookieName})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(whoami(r))
	r.AddCookie(&http.Cookie{Name: "authjs.session-token", Value: token})
	fmt.Println(whoami(r))
	r.Header.Set("Cookie", "authjs.session-token=forged")
	fmt.Println(whoami(r))
	// Output:
	// nobody is signed in
	// Alice
	// that token is no good
}

// A service that hands the token on to another one needs no secrets.
func ExampleGetRawToken() {
	came := http.Header{"Cookie": {"authjs.session-token=sealed"}}
	token, err := jwt.GetRawToken(came, jwt.TokenParams{CookieName: "authjs.session-token"})
	if err != nil {
		fmt.Println(err)
		return
	}
	goes := http.Header{"Authorization": {"Bearer " + token}}
	fmt.Println(goes.Get("Authorization"))
	// Output: Bearer sealed
}

// A token for a link that is good for one hour and one purpose, the salt.
func ExampleEncode() {
	p := jwt.Params{
		Secrets: []string{"keep-this-secret-and-at-least-32-long"},
		Salt:    "invitation",
		MaxAge:  time.Hour,
	}
	token, err := jwt.Encode(jwt.Claims{"team": "blue"}, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	claims, err := jwt.Decode(token, p)
	fmt.Println(claims.String("team"), err)

	p.Salt = "password reset"
	_, err = jwt.Decode(token, p)
	fmt.Println(err)
	// Output:
	// blue <nil>
	// jwt: the token is not valid
}

// A program that handles many tokens keeps a Codec, whose keys are derived
// once.
func ExampleCodec() {
	codec := jwt.NewCodec([]string{"keep-this-secret-and-at-least-32-long"}, "authjs.session-token")
	token, err := codec.SealClaims(jwt.Claims{"name": "Alice", "sub": "42"}, time.Now(), time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	claims, err := codec.OpenClaims(token, time.Now(), time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(claims.String("name"), claims.String("sub"))

	_, err = codec.OpenClaims(token, time.Now().Add(2*time.Hour), time.Hour)
	fmt.Println(err)
	// Output:
	// Alice 42
	// jwt: the token has expired
}

// Open and Seal take any bytes as the payload and do not look at them.
func ExampleCodec_Seal() {
	codec := jwt.NewCodec([]string{"keep-this-secret-and-at-least-32-long"}, "cart")
	token, err := codec.Seal([]byte("2 apples"))
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := codec.Open(token)
	fmt.Printf("%s %v\n", payload, err)
	// Output: 2 apples <nil>
}

// A token whose time is over is distinguished from one that never was ours.
func ExampleDecode() {
	p := jwt.Params{Secrets: []string{"keep-this-secret-and-at-least-32-long"}, Salt: "authjs.session-token", MaxAge: time.Hour}
	token, err := jwt.Encode(jwt.Claims{"sub": "42"}, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Time = func() time.Time { return time.Now().Add(2 * time.Hour) }
	_, err = jwt.Decode(token, p)
	fmt.Println(errors.Is(err, jwt.ErrExpired))
	// Output: true
}
