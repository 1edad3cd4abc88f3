// Package schema has the models.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// User is a person who can sign in. Instants are milliseconds.
type User struct{ ent.Schema }

// Fields implements ent.Interface.
func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").Optional().Nillable(),
		field.String("email").Optional().Nillable().Unique(),
		field.Int64("email_verified").Optional().Nillable(),
		field.String("image").Optional().Nillable(),
		field.String("plan").Default("free"), // of the program's own
		field.Int64("updated_at").DefaultFunc(now).UpdateDefault(now),
	}
}

func now() int64 { return time.Now().UnixMilli() }

// Membership is the place that each user has.
type Membership struct{ ent.Schema }

// Fields implements ent.Interface.
func (Membership) Fields() []ent.Field {
	return []ent.Field{
		field.Int("user_id").Unique(),
		field.String("team"),
	}
}
