package dynamoadapter

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var (
	errMember   = errors.New("dynamoadapter: a member cannot be an attribute of an item")
	errReserved = errors.New("dynamoadapter: a member has the name of an attribute that means something else in this table")
	errNoUTF8   = errors.New("dynamoadapter: a text is not UTF-8")
	errTooLong  = errors.New("dynamoadapter: a text is too long for a key of the table, which has 1024 bytes")
)

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

// orNull returns the attribute of a text, and null for the empty text, as Auth.js does.
func orNull(s string) types.AttributeValue {
	if s == "" {
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return text(s)
}

// putTexts sets an attribute for each text that is not empty.
func putTexts(in item, texts map[string]string) {
	for name, s := range texts {
		if s != "" {
			in[name] = text(s)
		}
	}
}

// isoOf returns a time as JavaScript writes it, to the millisecond. The zero time is the
// empty text.
func isoOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// timeOf reads a time that is stored as ISO text. It returns the zero time for anything
// else.
func timeOf(v types.AttributeValue) time.Time {
	t, err := time.Parse(time.RFC3339Nano, textOf(v))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// secondsOf returns a time as Auth.js keeps expiry: in seconds, with a fraction if
// there is one.
func secondsOf(t time.Time) types.AttributeValue {
	ms := t.UnixMilli()
	if ms%1000 == 0 {
		return number(strconv.FormatInt(ms/1000, 10))
	}
	return number(strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64))
}

// expiryOf reads an expiry as seconds, or as the ISO text that a client of
// another kind may have written. It returns false if it is neither.
func expiryOf(v types.AttributeValue) (time.Time, bool) {
	n, is := v.(*types.AttributeValueMemberN)
	if !is {
		t := timeOf(v)
		return t, !t.IsZero()
	}
	seconds, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || !(math.Abs(seconds) <= 1e12) { // NaN is none either
		return time.Time{}, false
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), true
}

// boolOf returns the value of a Boolean attribute. It returns false for anything else.
func boolOf(v types.AttributeValue) bool {
	b, is := v.(*types.AttributeValueMemberBOOL)
	return is && b.Value
}

// attributeOf returns v as an attribute. It returns errMember if JSON cannot hold v.
func attributeOf(v any) (types.AttributeValue, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errMember // the cause may quote a value
	}
	var plain any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a float64 would round large ids
	if d.Decode(&plain) != nil {
		return nil, errMember
	}
	return attribute(plain), nil
}

// attribute returns the attribute of a value that was decoded from JSON with
// UseNumber.
func attribute(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return text(v)
	case json.Number:
		return number(v.String())
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for i, one := range v {
			list[i] = attribute(one)
		}
		return &types.AttributeValueMemberL{Value: list}
	case map[string]any:
		all := make(item, len(v))
		for name, one := range v {
			all[name] = attribute(one)
		}
		return &types.AttributeValueMemberM{Value: all}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

// valueOf returns the value of an attribute as JSON has it, with numbers as [json.Number].
// Bytes stay a []byte, and a set of texts or numbers becomes a []string. It returns nil for
// null and for any other type.
func valueOf(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberB:
		return v.Value
	case *types.AttributeValueMemberSS:
		return v.Value
	case *types.AttributeValueMemberNS:
		return v.Value
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, one := range v.Value {
			list[i] = valueOf(one)
		}
		return list
	case *types.AttributeValueMemberM:
		return membersOf(v.Value)
	}
	return nil
}

func membersOf(all item) map[string]any {
	members := make(map[string]any, len(all))
	for name, v := range all {
		members[name] = valueOf(v)
	}
	return members
}

// extraOf returns the values of the attributes that no list of fields names. It returns
// nil if there are none.
func extraOf(all item, fields ...[]string) map[string]any {
	rest := maps.Clone(all)
	for _, name := range slices.Concat(fields...) {
		delete(rest, name)
	}
	if len(rest) == 0 {
		return nil
	}
	return membersOf(rest)
}

// putExtra adds the members of extra to the item. It returns errReserved for a member
// that a list of fields names, and errMember for a value that JSON cannot hold; the item
// may have some members then.
func putExtra(in item, extra map[string]any, fields ...[]string) error {
	reserved := slices.Concat(fields...)
	for name, v := range extra {
		if slices.Contains(reserved, name) {
			return errReserved
		}
		value, err := attributeOf(v)
		if err != nil {
			return err
		}
		in[name] = value
	}
	return nil
}

// areUTF8 reports whether all texts are UTF-8.
func areUTF8(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// isKey reports whether DynamoDB takes all texts as keys: UTF-8 of at most 1024 bytes.
func isKey(texts ...string) bool {
	for _, s := range texts {
		if len(s) > 1024 || !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return uuid(b)
}

// uuid returns b in the form of a UUID of version 4. Six bits of b are lost.
func uuid(b [16]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// hashOf returns SHA-256 of several texts, each with its length in front.
func hashOf(texts ...string) [sha256.Size]byte {
	var all []byte
	for _, s := range texts {
		all = append(strconv.AppendInt(all, int64(len(s)), 10), ':')
		all = append(all, s...)
	}
	return sha256.Sum256(all)
}
