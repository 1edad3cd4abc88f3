package mongoadapter

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestIndexesThatKeepRules: R-364, an index that leaves out documents, or takes two texts
// for one, keeps nothing unique.
func TestIndexesThatKeepRules(t *testing.T) {
	email := bson.D{{Key: "email", Value: 1}}
	only := func(field, operator string, value any) bson.D {
		return bson.D{{Key: "partialFilterExpression", Value: bson.D{{Key: field, Value: bson.D{{Key: operator, Value: value}}}}}}
	}
	for name, c := range map[string]struct {
		key     bson.D
		options bson.D
		want    bool
	}{
		"all documents":      {email, nil, true},
		"those with a text":  {email, only("email", "$gt", ""), true},
		"those that have it": {email, only("email", "$exists", true), true},
		"of type text":       {email, only("email", "$type", "string"), true},
		"of several types":   {email, only("email", "$type", bson.A{"string"}), false},
		"later in the order": {email, only("email", "$gt", "m"), false},
		"by another field":   {email, only("active", "$exists", true), false},
		"by a value":         {email, bson.D{{Key: "partialFilterExpression", Value: bson.D{{Key: "email", Value: "a"}}}}, false},
		"by two conditions":  {email, bson.D{{Key: "partialFilterExpression", Value: append(bson.D{{Key: "active", Value: true}}, only("email", "$gt", "")[0])}}, false},
		"of two fields":      {bson.D{{Key: "identifier", Value: 1}, {Key: "token", Value: 1}}, only("token", "$gt", ""), false},
		"whatever the case":  {email, bson.D{{Key: "collation", Value: bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}}}}, false},
	} {
		var listed index
		again(t, append(bson.D{{Key: "key", Value: c.key}, {Key: "unique", Value: true}}, c.options...), &listed)
		if got := listed.everywhere(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
