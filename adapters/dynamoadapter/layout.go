package dynamoadapter

import (
	"cmp"
	"errors"
)

// Layout says which items an [Adapter] reads and writes. The zero value is the layout of this
// package. [AuthJS] returns the other one, and only there a caller may set the fields. They
// are the options of @auth/dynamodb-adapter; an empty one means the name that is usual there.
type Layout struct {
	authJS bool

	PartitionKey      string // "pk"
	SortKey           string // "sk"
	Index             string // "GSI1"
	IndexPartitionKey string // "GSI1PK"
	IndexSortKey      string // "GSI1SK"
}

// AuthJS returns the layout of @auth/dynamodb-adapter, for a table that both use at the
// same time. Session tokens are plain there, since the other side reads them. Keys have
// at most 1024 bytes; longer ones are refused.
func AuthJS() Layout { return Layout{authJS: true} }

// named returns the layout with the usual name in place of each empty one.
func (l Layout) named() Layout {
	return Layout{
		authJS: l.authJS, PartitionKey: cmp.Or(l.PartitionKey, "pk"), SortKey: cmp.Or(l.SortKey, "sk"), Index: cmp.Or(l.Index, "GSI1"),
		IndexPartitionKey: cmp.Or(l.IndexPartitionKey, "GSI1PK"), IndexSortKey: cmp.Or(l.IndexSortKey, "GSI1SK"),
	}
}

// ttl returns the name of the attribute by which DynamoDB removes items.
func (l Layout) ttl() string {
	if l.authJS {
		return "expires"
	}
	return "ttl"
}

// check returns an error if a field is set and the Layout is not one that [AuthJS]
// returned. It also returns an error if two keys have the same name, or if a key has the
// name of an attribute of records.
func (l Layout) check() error {
	if !l.authJS {
		if l != (Layout{}) {
			return errors.New("dynamoadapter: names of keys belong to a Layout that AuthJS returned")
		}
		return nil
	}
	taken := map[string]bool{}
	for _, names := range [][]string{fieldsOfUser, fieldsOfAccount, fieldsOfSession, fieldsOfLink} {
		for _, name := range names {
			taken[name] = true
		}
	}
	for _, name := range l.keys() {
		if taken[name] {
			return errors.New("dynamoadapter: two of the names in Options.Layout are the same, or one is an attribute of records")
		}
		taken[name] = true
	}
	return nil
}

// keys returns the names of the four key attributes in the layout of Auth.js, the usual
// ones in place of empty ones.
func (l Layout) keys() []string {
	l = l.named()
	return []string{l.PartitionKey, l.SortKey, l.IndexPartitionKey, l.IndexSortKey}
}
