package jwtclaims_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

func FuzzCheck(f *testing.F) {
	now := time.Unix(1_000_000, 0)
	for _, payload := range []string{session, `{"exp":1e400}`, `{"exp":-0.5}`, `{"iat":1.5,"nbf":null}`, `{"exp":123456789012345678}`, `{"nbf":"1"}`} {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		members, err := jsonscan.Members([]byte(payload), nil)
		if err != nil {
			return
		}
		switch err := jwtclaims.Check(members, now, 0); err {
		case nil, jwtclaims.ErrExpired:
			for _, key := range []string{"exp", "iat", "nbf"} {
				raw, found := jsonscan.Lookup(members, key)
				var number *float64
				if found && (json.Unmarshal(raw, &number) != nil || number == nil) {
					t.Errorf("accepted %s = %s", key, raw)
				}
			}
		case jsonscan.ErrInvalid:
		default:
			t.Errorf("Check = %v", err)
		}
	})
}

func FuzzAppendIssued(f *testing.F) {
	now := time.Unix(1_000_000, 0)
	for _, payload := range []string{session, `{}`, `{"jti":{},"{":1}`, `{"\u0061\"":1,"nbf":"x"}`, `{"":null}`} {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		members, err := jsonscan.Members([]byte(payload), nil)
		if err != nil {
			return
		}
		text := jwtclaims.AppendIssued(nil, members, now, time.Hour)
		again := mustMembers(t, string(text))
		var standard map[string]json.RawMessage
		if err := json.Unmarshal(text, &standard); err != nil || len(standard) != len(again) {
			t.Fatalf("AppendIssued = %s, %v", text, err)
		}
		for _, m := range members {
			raw, _ := jsonscan.Lookup(again, string(m.Key))
			switch string(m.Key) {
			case "iat", "exp", "jti":
			default:
				if string(raw) != string(m.Raw) || string(standard[string(m.Key)]) != string(m.Raw) {
					t.Errorf("%q became %q", m.Raw, raw)
				}
			}
		}
		if iat, exp := string(standard["iat"]), string(standard["exp"]); iat != "1000000" || exp != "1003600" {
			t.Errorf("iat = %s, exp = %s", iat, exp)
		}
	})
}
