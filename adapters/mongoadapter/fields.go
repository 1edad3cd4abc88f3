package mongoadapter

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Members of Extra become fields of the document, beside those of its struct. Their values
// are those of JSON.

// errBusy reports a document that other calls changed each time.
var errBusy = errors.New("other calls changed the document each time: try again")

// errValue says nothing of the value.
var errValue = errors.New("a value has no form in JSON, or is too large a number")

// Some servers refuse dots and dollars in names of fields. The provider chooses the names in
// its answer, so the adapter escapes them.
var (
	escape   = strings.NewReplacer("%", "%25", ".", "%2E", "$", "%24", "\x00", "%00")
	unescape = strings.NewReplacer("%25", "%", "%2E", ".", "%24", "$", "%00", "\x00")
)

// toFields returns members as fields of a document. It leaves out the members that taken
// names, since those names are fields of the document already. It returns nil for no
// members, and errValue for a value that cannot be stored.
func toFields(members map[string]any, taken ...string) (bson.M, error) {
	if len(members) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, errValue
	}
	var plain map[string]any
	read := json.NewDecoder(bytes.NewReader(text))
	read.UseNumber()
	if err := read.Decode(&plain); err != nil {
		return nil, errValue
	}
	for _, name := range taken {
		delete(plain, name)
	}
	fields, err := toBSON(plain)
	if err != nil {
		return nil, err
	}
	return fields.(bson.M), nil
}

// toBSON returns v, which was decoded from JSON with UseNumber, in the form that the driver
// stores. It escapes names of members. It returns errValue for a number that is too large.
func toBSON(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		m := make(bson.M, len(v))
		for name, inner := range v {
			value, err := toBSON(inner)
			if err != nil {
				return nil, err
			}
			m[escape.Replace(name)] = value
		}
		return m, nil
	case []any:
		list := make(bson.A, len(v))
		for i, inner := range v {
			value, err := toBSON(inner)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case json.Number:
		return toNumber(v)
	default:
		return v, nil
	}
}

// toNumber returns a number as BSON stores it. A whole number of up to 34 digits keeps
// every digit; any other number becomes a float64. It returns errValue for a number that
// is too large.
func toNumber(n json.Number) (any, error) {
	if whole, err := n.Int64(); err == nil {
		return whole, nil
	}
	if !strings.ContainsAny(n.String(), ".eE") {
		if wide, err := bson.ParseDecimal128(n.String()); err == nil {
			return wide, nil
		}
	}
	f, err := n.Float64()
	if err != nil {
		return nil, errValue
	}
	return f, nil
}

// exactly decodes a document into the struct that fields points to, each field by its exact
// name. names has the names of the fields. The driver alone would try a name in lower case,
// too, and take a member Email of a provider's answer for the field email. exactly returns
// such members as strays, and nil if there are none.
func exactly(doc bson.Raw, names []string, fields any) (strays bson.M, err error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var own bson.D
	for _, e := range elements {
		name := e.Key()
		if slices.Contains(names, name) || !slices.Contains(names, strings.ToLower(name)) {
			own = append(own, bson.E{Key: name, Value: e.Value()})
			continue
		}
		if strays == nil {
			strays = bson.M{}
		}
		var value any
		if err := e.Value().Unmarshal(&value); err != nil {
			return nil, err
		}
		strays[name] = value
	}
	if strays != nil {
		if doc, err = bson.Marshal(own); err != nil {
			return nil, err
		}
	}
	return strays, bson.Unmarshal(doc, fields)
}

// beside adds strays to the map that members points to. If that is nil, it becomes
// strays.
func beside(members *bson.M, strays bson.M) {
	if *members == nil {
		*members = strays
		return
	}
	maps.Copy(*members, strays)
}

// fromFields returns the members that toFields was given, or nil for none. Values
// that other programs have stored become what they would be in JSON.
func fromFields(fields bson.M) map[string]any {
	if len(fields) == 0 {
		return nil
	}
	return fromBSON(fields).(map[string]any)
}

// fromBSON returns a stored value as JSON has it, with unescaped names of
// members.
func fromBSON(v any) any {
	switch v := v.(type) {
	case bson.M:
		m := make(map[string]any, len(v))
		for name, inner := range v {
			m[unescape.Replace(name)] = fromBSON(inner)
		}
		return m
	case bson.D:
		m := make(bson.M, len(v))
		for _, field := range v {
			m[field.Key] = field.Value
		}
		return fromBSON(m)
	case bson.A:
		list := make([]any, len(v))
		for i, inner := range v {
			list[i] = fromBSON(inner)
		}
		return list
	case string, bool, nil:
		return v
	default:
		return fromScalar(v)
	}
}

// fromScalar returns a single value as JSON has it. It returns nil for one that
// JSON has no form for.
func fromScalar(v any) any {
	switch v := v.(type) {
	case int32:
		return json.Number(strconv.FormatInt(int64(v), 10))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	case bson.Decimal128:
		if v.IsNaN() || v.IsInf() != 0 {
			return nil
		}
		return json.Number(v.String())
	case bson.ObjectID:
		return v.Hex()
	case bson.DateTime:
		return v.Time().UTC().Format("2006-01-02T15:04:05.000Z")
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z")
	case bson.Binary:
		return base64.StdEncoding.EncodeToString(v.Data)
	default:
		return nil
	}
}
