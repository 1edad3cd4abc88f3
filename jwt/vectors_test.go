package jwt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

// vectors are tokens that Auth.js made; internal/interop/vectors has the
// program.
type vectors struct {
	Tokens []vector
	CSRF   []struct {
		Secrets       []string
		Token, Cookie string
	}
}

type vector struct {
	Name    string
	Secrets []string
	Salt    string
	Token   string
	Payload json.RawMessage
	Cookies []cookie.Chunk
}

func readVectors(tb testing.TB) vectors {
	tb.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		tb.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		tb.Fatal(err)
	}
	if len(v.Tokens) < 10 || len(v.CSRF) < 2 {
		tb.Fatal("vectors are missing")
	}
	return v
}

// compact is the payload as JSON.stringify writes it: order and escapes as they
// were read.
func compact(tb testing.TB, payload json.RawMessage) string {
	tb.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, payload); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestVectors(t *testing.T) {
	for _, v := range readVectors(t).Tokens {
		t.Run(v.Name, func(t *testing.T) {
			want := compact(t, v.Payload)
			mustOpen(t, jwt.NewCodec(v.Secrets, v.Salt), v.Token, want)

			claims, err := jwt.Decode(v.Token, jwt.Params{Secrets: v.Secrets, Salt: v.Salt})
			if err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, claims); !reflect.DeepEqual(got, asJSON(t, v.Payload)) {
				t.Errorf("Decode = %v, want %s", got, want)
			}
		})
		t.Run(v.Name+", payload made here", func(t *testing.T) {
			members, err := jsonscan.Members([]byte(compact(t, v.Payload)), nil)
			if err != nil {
				t.Fatal(err)
			}
			claims, err := jwt.Decode(v.Token, jwt.Params{Secrets: v.Secrets, Salt: v.Salt})
			if err != nil {
				t.Fatal(err)
			}
			iat, _ := claims.Time("iat")
			exp, _ := claims.Time("exp")
			got := string(jwtclaims.AppendIssued(nil, members, iat, exp.Sub(iat)))
			fresh, _ := jsonscan.Lookup(mustMembers(t, got), "jti")
			if got = strings.Replace(got, string(fresh), `"`+claims.String("jti")+`"`, 1); got != compact(t, v.Payload) {
				t.Errorf("AppendIssued = %s, want %s", got, v.Payload)
			}
		})
	}
}

func TestVectorHeaders(t *testing.T) {
	for _, v := range readVectors(t).Tokens {
		ours := make(map[string]bool)
		for _, s := range v.Secrets {
			header, _, _ := strings.Cut(seal(t, jwt.NewCodec([]string{s}, v.Salt), "{}"), ".")
			ours[header] = true
		}
		if theirs, _, _ := strings.Cut(v.Token, "."); !ours[theirs] {
			t.Errorf("%s: the header differs from ours: %s", v.Name, theirs)
		}
	}
}

func TestVectorInCookies(t *testing.T) {
	tested := 0
	for _, v := range readVectors(t).Tokens {
		if len(v.Cookies) == 0 {
			continue
		}
		tested++
		if chunks := cookie.Split(v.Salt, v.Token, 0); !reflect.DeepEqual(chunks, v.Cookies) {
			t.Errorf("%s: cut differently", v.Name)
		}
		h := http.Header{}
		for _, c := range v.Cookies {
			h.Add("Cookie", c.Name+"="+c.Value)
		}
		token, err := jwt.GetRawToken(h, jwt.TokenParams{CookieName: v.Salt})
		if err != nil || token != v.Token {
			t.Errorf("%s: joined differently: %v", v.Name, err)
		}
	}
	if tested == 0 {
		t.Error("no vector has cookies")
	}
}

// TestVectorCSRF documents the other cookie of the format: token|hash, over all
// secrets joined.
func TestVectorCSRF(t *testing.T) {
	for _, v := range readVectors(t).CSRF {
		hash := sha256.Sum256([]byte(v.Token + strings.Join(v.Secrets, ",")))
		if got := v.Token + "|" + hex.EncodeToString(hash[:]); got != v.Cookie || len(v.Token) != 64 {
			t.Errorf("cookie = %s, want %s", got, v.Cookie)
		}
	}
}

func TestVectorsExpire(t *testing.T) {
	v := readVectors(t).Tokens[0]
	far := func() time.Time { return time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) }
	if _, err := jwt.Decode(v.Token, jwt.Params{Secrets: v.Secrets, Salt: v.Salt, Time: far}); err != jwt.ErrExpired {
		t.Errorf("err = %v, want ErrExpired", err)
	}
}

// asJSON makes values of any origin comparable, without rounding numbers.
func asJSON(tb testing.TB, value any) any {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var got any
	if err := d.Decode(&got); err != nil {
		tb.Fatal(err)
	}
	return got
}

func mustMembers(tb testing.TB, payload string) []jsonscan.Member {
	tb.Helper()
	members, err := jsonscan.Members([]byte(payload), nil)
	if err != nil {
		tb.Fatalf("%s: %v", payload, err)
	}
	return members
}
