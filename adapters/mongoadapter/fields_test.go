package mongoadapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// TestMembers: whatever JSON can say comes back as it was, by way of BSON.
func TestMembers(t *testing.T) {
	want := map[string]any{
		"text": "o'k", "none": nil, "yes": true, "list": []any{json.Number("1"), "two", map[string]any{"deep": []any{}}},
		"https://example.com/roles": "dots", "$set": "dollars", "50%2E": "percents", "a\x00b": "zero", "": "empty",
		"large": json.Number("9007199254740993"), "larger": json.Number("123456789012345678901234567890"), "part": json.Number("0.1"), "id": "kept",
	}
	fields, err := toFields(want, "name")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var read bson.M
	if err := bson.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if got := fromFields(read); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if fields, err := toFields(map[string]any{"name": "Mallory", "role": "admin"}, "name"); err != nil || len(fields) != 1 {
		t.Errorf("a field of its own was overwritten: %v, error %v", fields, err)
	}
	for _, bad := range []any{math.Inf(1), func() {}, json.Number("1e999")} {
		if _, err := toFields(map[string]any{"x": bad}); !errors.Is(err, errValue) {
			t.Errorf("%T: %v", bad, err)
		}
	}
}

// TestMembersOfAnotherCase: R-036, no member fills a field that is written otherwise, and
// each comes back as it was.
func TestMembersOfAnotherCase(t *testing.T) {
	extra := map[string]any{
		"Email": "mallory@example.com", "EMAIL": "eve@example.com", "_ID": "0123456789abcdef01234567", "Name": "Mallory", "Image": json.Number("1"),
		"Type": "admin", "Provider": "acme", "Access_Token": "stolen", "Scope": map[string]any{"deep": []any{"x"}}, "role": "member",
	}
	u := storage.User{ID: "89abcdef0123456789abcdef", Name: "Ada", Email: "ada@example.com", Extra: extra}
	users, err := newUserDoc(u)
	if err != nil {
		t.Fatal(err)
	}
	var user userDoc
	again(t, users, &user)
	if got := user.user(); !reflect.DeepEqual(got, u) {
		t.Errorf("the user became %v, want %v", got, u)
	}
	a := storage.Account{UserID: u.ID, Type: "oauth", Provider: "github", ProviderAccountID: "1", Tokens: storage.Tokens{AccessToken: "token"}, Extra: extra}
	accounts, err := newAccountDoc(a)
	if err != nil {
		t.Fatal(err)
	}
	var account accountDoc
	again(t, accounts, &account)
	a.ID = accounts.ID.Hex()
	if got := account.account(); !reflect.DeepEqual(got, a) {
		t.Errorf("the account became %v, want %v", got, a)
	}
}

// again reads a document as the server would give it back.
func again(t *testing.T, doc, to any) {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := bson.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

// TestForeignMembers: what other programs keep becomes what it would be in JSON, and
// can always be written as that.
func TestForeignMembers(t *testing.T) {
	id := bson.NewObjectID()
	at := time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)
	nan, _ := bson.ParseDecimal128("NaN")
	got := fromFields(bson.M{
		"team": id, "since": bson.NewDateTimeFromTime(at), "n": int32(7), "ratio": 0.5, "nan": math.NaN(), "decimal": nan,
		"blob": bson.Binary{Data: []byte("b")}, "nested": bson.D{{Key: "k", Value: bson.A{int64(1)}}}, "pattern": bson.Regex{Pattern: "x"},
	})
	want := map[string]any{
		"team": id.Hex(), "since": "2031-05-17T22:30:15.123Z", "n": json.Number("7"), "ratio": json.Number("0.5"), "nan": nil, "decimal": nil,
		"blob": "Yg==", "nested": map[string]any{"k": []any{json.Number("1")}}, "pattern": nil,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

// TestKeys: no two names are kept by one id, and an ObjectId is itself.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	names := [][]string{{"a", "bc"}, {"ab", "c"}, {"abc"}, {"a", "b", "c"}, {"", "abc"}, {"abc", ""}, {"a\x00b"}, {"\xff"}}
	for _, parts := range names {
		seen[keyOf(parts...)] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d different keys, want %d", len(seen), len(names))
	}
	hex := "0123456789abcdef01234567"
	if objectID(hex).Hex() != hex {
		t.Error("an ObjectId is another")
	}
	if got := objectID("nobody").Hex(); got != "6382b3cc881412b77bfcaeed" { // what is kept somewhere stays found
		t.Errorf("nobody is %s", got)
	}
	ids := map[bson.ObjectID]bool{}
	for _, text := range []string{hex, "0123456789ABCDEF01234567", hex + " ", "nobody", fmt.Sprintf("%q", hex)} {
		ids[objectID(text)] = true
	}
	if len(ids) != 5 {
		t.Errorf("%d different ids, want 5", len(ids))
	}
}
