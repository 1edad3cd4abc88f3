package sitetest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/storage"
)

// holders are the exported types that hold secrets, by package and name.
var holders = map[string]reflect.Type{
	"latchkey.Config":              reflect.TypeFor[latchkey.Config](),
	"latchkey.JWTParams":           reflect.TypeFor[latchkey.JWTParams](),
	"latchkey.OAuth":               reflect.TypeFor[latchkey.OAuth](),
	"latchkey.SigningKey":          reflect.TypeFor[latchkey.SigningKey](),
	"latchkey.Email":               reflect.TypeFor[latchkey.Email](),
	"latchkey.Message":             reflect.TypeFor[latchkey.Message](),
	"latchkey.LogoutRequest":       reflect.TypeFor[latchkey.LogoutRequest](),
	"latchkey.Grant":               reflect.TypeFor[latchkey.Grant](),
	"storage.Tokens":               reflect.TypeFor[storage.Tokens](),
	"storage.StoredSession":        reflect.TypeFor[storage.StoredSession](),
	"storage.VerificationToken":    reflect.TypeFor[storage.VerificationToken](),
	"latchkey.SignInAttempt":       reflect.TypeFor[latchkey.SignInAttempt](),
	"latchkey.Request":             reflect.TypeFor[latchkey.Request](),
	"latchkey.Response":            reflect.TypeFor[latchkey.Response](),
	"storage.Account":              reflect.TypeFor[storage.Account](),
	"latchkey.Access":              reflect.TypeFor[latchkey.Access](),
	"latchkey.SignInOptions":       reflect.TypeFor[latchkey.SignInOptions](),
	"latchkey.Forms":               reflect.TypeFor[latchkey.Forms](),
	"latchkey.FormFailure":         reflect.TypeFor[latchkey.FormFailure](),
	"jwt.Params":                   reflect.TypeFor[jwt.Params](),
	"jwt.TokenParams":              reflect.TypeFor[jwt.TokenParams](),
	"jwt.Codec":                    reflect.TypeFor[jwt.Codec](),
	"providers.AppleKey":           reflect.TypeFor[providers.AppleKey](),
	"providers.MailAPI":            reflect.TypeFor[providers.MailAPI](),
	"latchkeytest.IssuerConfig":    reflect.TypeFor[latchkeytest.IssuerConfig](),
	"latchkeytest.Issuer":          reflect.TypeFor[latchkeytest.Issuer](),
	"latchkeytest.RecordedRequest": reflect.TypeFor[latchkeytest.RecordedRequest](),
	"latchkeytest.Client":          reflect.TypeFor[latchkeytest.Client](),
	"latchkeytest.Page":            reflect.TypeFor[latchkeytest.Page](),
	"storage.Factor":               reflect.TypeFor[storage.Factor](),
}

// noSecret have a field that is called like a secret and holds none.
var noSecret = []string{
	"latchkey.Endpoint.Params", "latchkey.Refresh.Params", "latchkey.OAuth.Token", "latchkeytest.Misbehaviour.Token",
	"latchkeytest.Misbehaviour.IDToken", "latchkeytest.Misbehaviour.Header", "latchkeytest.Misbehaviour.RawIDToken", // a number, parameters of ours, an endpoint, a function
	"latchkeytest.Answer.Header", "latchkeytest.Answer.Body", // what a test made up
	"latchkey.Cookies.SessionToken", "latchkey.Cookies.CSRFToken", // names and attributes
	"storage.Authenticator.PublicKey", "latchkey.SessionConfig.NewToken", "latchkey.Callbacks.Token",
	"latchkey.Config.Cookies",                                   // names and attributes
	"latchkey.Logout.OmitIDToken",                               // yes or no
	"latchkey.SignOutOptions.Params",                            // of the address at a provider, such as ui_locales
	"latchkey.Pages.Password",                                   // a path
	"latchkey.TokenInfo.IDToken", "event.SignInPayload.IDToken", // claims
}

const canary = "c4nary \"quoted\"\n\u00e4 <s3cret>"

// fill puts the canary wherever text goes.
func fill(v reflect.Value, depth int) {
	if !v.CanSet() || depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(canary)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(canary))
			return
		}
		fill(v.Index(0), depth+1)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return
		}
		value := reflect.New(v.Type().Elem()).Elem()
		if fill(value, depth+1); value.Kind() == reflect.Interface && value.NumMethod() == 0 {
			value.Set(reflect.ValueOf(canary))
		}
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(canary).Convert(v.Type().Key()), value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	}
}

// writtenOut is all the ways in which a value can be written out by accident.
func writtenOut(v any) map[string]string {
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%+q", "%x", "%X", "%d", "%T %v"} {
		args := []any{v}
		if verb == "%T %v" {
			args = append(args, v)
		}
		out[verb] = fmt.Sprintf(verb, args...)
	}
	out["Println"] = fmt.Sprintln(v)
	if raw, err := json.Marshal(v); err == nil {
		out["JSON"] = string(raw)
	}
	if raw, err := xml.Marshal(v); err == nil {
		out["XML"] = string(raw)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("x", "value", v, slog.Group("g", "inner", v))
		out[name] = b.String()
	}
	return out
}

func TestR393NothingPrintsItsSecrets(t *testing.T) {
	for name, holder := range holders {
		t.Run("R-393 "+name, func(t *testing.T) {
			pointer := reflect.New(holder)
			fill(pointer.Elem(), 0)
			values := []any{pointer.Interface(), map[string]any{"k": pointer.Interface()}, []any{pointer.Interface()}}
			if !holdsLock(holder) {
				value := pointer.Elem().Interface()
				values = append(values, value, []any{value}, map[string]any{"k": value}, struct{ Inner any }{value})
			}
			for _, v := range values {
				for how, text := range writtenOut(v) {
					for _, secret := range []string{"c4nary", "s3cret", fmt.Sprintf("%x", "c4nary"), fmt.Sprintf("%X", "c4nary")} {
						if strings.Contains(text, secret) {
							t.Errorf("%s of a %T shows it: %.200s", how, v, text)
						}
					}
				}
			}
		})
	}
	t.Run("R-393 what holds one of them", func(t *testing.T) {
		var a latchkey.Account
		a.Tokens.AccessToken = "c4nary"
		for _, v := range []any{
			a, &a,
			[]latchkey.Account{a},
			latchkey.LinkAccountEvent{Account: a},
			latchkey.SignInEvent{Account: a},
			latchkey.TokenInfo{Account: &a},
			latchkey.SessionInfo{Stored: &storage.StoredSession{Token: "c4nary"}},
			latchkey.SessionEvent{Stored: &storage.StoredSession{Token: "c4nary"}},
			storage.AccountRecord(a).Tokens, fmt.Sprintf("%+v", storage.StoredSessionRecord{Token: "c4nary"}),
		} {
			for how, text := range writtenOut(v) {
				if strings.Contains(text, "c4nary") {
					t.Errorf("%s of a %T shows it: %.200s", how, v, text)
				}
			}
		}
	})
	t.Run("R-393 a site that is made ready", func(t *testing.T) {
		s := newSite(t)
		for _, v := range []any{s.auth, s.auth.Core(), s.auth.Users()} {
			for how, text := range writtenOut(v) {
				for _, secret := range []string{siteSecret, "acme's client secret"} {
					if strings.Contains(text, secret) {
						t.Errorf("%s of a %T shows it: %.200s", how, v, text)
					}
				}
			}
		}
	})
}

// holdsLock: copying such a value is a mistake.
func holdsLock(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{reflect.TypeFor[latchkeytest.Issuer](), reflect.TypeFor[latchkeytest.Client](), reflect.TypeFor[jwt.Codec]()}, t)
}

// secretive are names of fields that hold secrets.
var secretive = regexp.MustCompile(`^(.*Secrets?|.*Token|Tokens|Key|PEM|Password|Sealed|Credentials|Body|Headers?|Cookies|Params|Form)$`)

// TestR393EveryHolderIsKnown reads the source: a new exported type with a field
// that is called like a secret has to hide itself.
func TestR393EveryHolderIsKnown(t *testing.T) {
	seen := 0
	for _, dir := range []string{".", "event", "jwt", "latchkeytest", "latchkeytest/frameworktest", "mailtext", "passkey", "providers", "storage"} {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok || !spec.Name.IsExported() {
					return true
				}
				body, ok := spec.Type.(*ast.StructType)
				if !ok {
					return true
				}
				name := file.Name.Name + "." + spec.Name.Name
				for _, field := range body.Fields.List {
					for _, f := range field.Names {
						if !secretive.MatchString(f.Name) || !f.IsExported() || slices.Contains(noSecret, name+"."+f.Name) {
							continue
						}
						seen++
						if holders[name] == nil {
							t.Errorf("R-393: %s.%s: hide it, list it among the holders, or say why it is harmless", name, f.Name)
						}
					}
				}
				return true
			})
		}
	}
	if seen < 15 {
		t.Errorf("only %d fields were found", seen)
	}
}
