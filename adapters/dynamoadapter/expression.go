package dynamoadapter

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression is a condition of DynamoDB, with the names and values that its placeholders
// stand for. A caller may use the placeholders in an update expression, too.
type expression struct {
	parts  []string
	names  map[string]string
	values item
}

func newExpression() *expression { return &expression{names: map[string]string{}, values: item{}} }

// and adds a condition, which has placeholders of e.
func (e *expression) and(part string) { e.parts = append(e.parts, part) }

// text returns all conditions, joined by AND.
func (e *expression) text() *string { return new(strings.Join(e.parts, " AND ")) }

// name returns the placeholder of an attribute's name. It returns the same placeholder
// for the same name. There is room for 26 names.
func (e *expression) name(name string) string {
	for short, of := range e.names {
		if of == name {
			return short
		}
	}
	short := "#" + string(rune('a'+len(e.names)))
	e.names[short] = name
	return short
}

// value returns a new placeholder of a value, even for a value that has one. There is
// room for 26 values.
func (e *expression) value(v types.AttributeValue) string {
	short := ":" + string(rune('a'+len(e.values)))
	e.values[short] = v
	return short
}

// given returns the values of all placeholders. It returns nil if there are none, since
// DynamoDB refuses an empty map.
func (e *expression) given() item {
	if len(e.values) == 0 {
		return nil
	}
	return e.values
}
