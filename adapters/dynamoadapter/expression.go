package dynamoadapter

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression is text of DynamoDB with its names and values beside it.
type expression struct {
	parts  []string
	names  map[string]string
	values item
}

func newExpression() *expression { return &expression{names: map[string]string{}, values: item{}} }

// and adds a condition.
func (e *expression) and(part string) { e.parts = append(e.parts, part) }

// text returns all conditions as one.
func (e *expression) text() *string { return new(strings.Join(e.parts, " AND ")) }

// name returns the placeholder of an attribute's name, the same for each call
// with it.
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

// value returns a new placeholder of a value.
func (e *expression) value(v types.AttributeValue) string {
	short := ":" + string(rune('a'+len(e.values)))
	e.values[short] = v
	return short
}

// given returns the values, nil if there are none, as DynamoDB wants it.
func (e *expression) given() item {
	if len(e.values) == 0 {
		return nil
	}
	return e.values
}
