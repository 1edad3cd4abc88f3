// Package model describes the tables that Latchkey stores records in: their
// columns, what those hold, and what is unique. It calls tables and columns as
// the schema of Migrate does; Names says what a database calls them.
package model

import "slices"

// Kind is what a column holds, and so how it is read and written.
type Kind int

// The kinds of columns.
const (
	Text      Kind = iota
	ID             // text for Latchkey, perhaps a number or a UUID in the database
	OptText        // null if empty
	Number         // never null
	OptNumber      // null if zero
	Flag           // a truth value
	OptFlag        // null if false
	Moment         // an instant; null if zero
)

// Width is how many bytes of text a column holds on MySQL. Zero means any number,
// as on the other databases.
type Width int

const (
	unlimited Width = 0
	short     Width = 255  // a key, a word
	long      Width = 1400 // an e-mail address, a subject, a token
)

// Presence says which layouts have a column.
type Presence int

// The presences.
const (
	Always      Presence = iota
	Optional             // a layout may be without it
	Added                // like Optional, and no adapter of Auth.js has it
	ForeignOnly          // only tables of others have it
)

// Column is a column of a table.
type Column struct {
	Name     string
	Kind     Kind
	Width    Width
	Presence Presence
}

// Table is a table. Rows are written and read in the order of Columns.
type Table struct {
	Name        string
	Columns     []Column
	Key         []string // the columns that are unique together; of a partitioned table the expiry may belong to the key
	Dispensable bool     // a layout may be without it
	Shared      bool     // adapters of Auth.js have it, too
}

// Tables has all tables, in the order in which they are looked at. Those that are
// shared come first.
var Tables = []Table{
	{Name: "users", Columns: users, Key: []string{"email"}, Shared: true},
	{Name: "accounts", Columns: accounts, Key: []string{"provider", "providerAccountId"}, Shared: true},
	{Name: "sessions", Columns: sessions, Key: []string{"sessionToken"}, Shared: true},
	{Name: "verification_token", Columns: verificationTokens, Key: []string{"identifier", "token"}, Shared: true},
	{Name: "authenticators", Columns: authenticators, Key: []string{"credentialID"}, Shared: true, Dispensable: true},
	{Name: "revocations", Columns: revocations, Key: []string{"key"}, Dispensable: true},
	{Name: "limits", Columns: limits, Key: []string{"key"}, Dispensable: true},
	{Name: "used_values", Columns: usedValues, Key: []string{"key"}, Dispensable: true},
	{Name: "suspensions", Columns: suspensions, Key: []string{"user_id"}, Dispensable: true},
	{Name: "leases", Columns: leases, Key: []string{"key"}, Dispensable: true},
	{Name: "activities", Columns: activities, Key: []string{"id"}, Dispensable: true},
	{Name: "factors", Columns: factors, Key: []string{"id"}, Dispensable: true},
	{Name: "recovery_codes", Columns: recoveryCodes, Key: []string{"user_id", "hash"}, Dispensable: true},
	{Name: "challenges", Columns: challenges, Key: []string{"id"}, Dispensable: true},
	{Name: "browsers", Columns: browsers, Key: []string{"id", "user_id"}, Dispensable: true},
	{Name: "passwords", Columns: passwords, Key: []string{"user_id"}, Dispensable: true},
	{Name: "audit_events", Columns: auditEvents, Key: []string{"id"}, Dispensable: true},
}

// Of returns the table of a name, or the zero Table if there is none. The caller must not
// change its slices.
func Of(table string) Table {
	i := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == table })
	if i < 0 {
		return Table{}
	}
	return Tables[i]
}

// Shared returns the tables that adapters of Auth.js have, too: users, accounts,
// sessions, verification_token and authenticators, in this order. The caller must not
// change them.
func Shared() []Table {
	i := slices.IndexFunc(Tables, func(t Table) bool { return !t.Shared })
	return Tables[:i:i]
}

var users = []Column{
	{"id", ID, short, Always},
	{"name", OptText, unlimited, Always},
	{"email", OptText, long, Always},
	{"emailVerified", Moment, 0, Always},
	{"image", OptText, unlimited, Always},
	{"extra", OptText, unlimited, Added},
	{"created", Moment, 0, Added},
	{"name_key", OptText, long, Added}, // the folded name, by which users are searched for
	{"provisioned", Moment, 0, Added},
}

var accounts = []Column{
	{"id", ID, short, Optional},
	{"userId", ID, short, Always},
	{"type", Text, short, Always},
	{"provider", Text, short, Always},
	{"providerAccountId", Text, long, Always},
	{"refresh_token", OptText, unlimited, Optional},
	{"access_token", OptText, unlimited, Optional},
	{"expires_at", OptNumber, 0, Optional},
	{"id_token", OptText, unlimited, Optional},
	{"scope", OptText, unlimited, Optional},
	{"session_state", OptText, unlimited, Optional},
	{"token_type", OptText, unlimited, Optional},
	{"authorization_details", OptText, unlimited, Added},
	{"token_extra", OptText, unlimited, Added},
	{"extra", OptText, unlimited, Added},
	{"email", OptText, long, Added},
	{"email_vouched", OptFlag, 0, Added},
}

var sessions = []Column{
	{"id", ID, short, Optional},
	{"userId", ID, short, Always},
	{"sessionToken", Text, long, Always},
	{"expires", Moment, 0, Always},
	{"created", Moment, 0, Added},
	{"user_agent", OptText, unlimited, Added},
	{"tenant", OptText, short, Added},
	{"provider", OptText, short, Added},
	{"provider_sid", OptText, short, Added},
	{"provider_sub", OptText, short, Added},
	{"provider_issued", Moment, 0, Added},
	{"sealed", OptText, unlimited, Added},
	{"proved", Moment, 0, Added},
	{"amr", OptText, short, Added}, // words with a space between them
	{"acr", OptText, short, Added},
	{"actor", OptText, short, Added},
	{"actor_session", OptText, short, Added},
}

var verificationTokens = []Column{
	{"id", ID, short, ForeignOnly},
	{"identifier", Text, long, Always},
	{"token", Text, long, Always},
	{"expires", Moment, 0, Always},
	{"purpose", OptText, short, Added}, // never compared: it is part of the hash
}

var authenticators = []Column{
	{"credentialID", Text, long, Always},
	{"userId", ID, short, Always},
	{"providerAccountId", Text, long, Always},
	{"credentialPublicKey", Text, unlimited, Always},
	{"counter", Number, 0, Always},
	{"credentialDeviceType", Text, short, Always},
	{"credentialBackedUp", Flag, 0, Always},
	{"transports", OptText, unlimited, Optional},
	{"name", OptText, unlimited, Added},
	{"aaguid", OptText, short, Added},
	{"created", Moment, 0, Added},
	{"used", Moment, 0, Added},
	{"user_handle", OptText, short, Added},
}

var revocations = []Column{
	{"key", Text, short, Always},
	{"at", Moment, 0, Always},
	{"expires", Moment, 0, Always},
}

var limits = []Column{
	{"key", Text, short, Always},
	{"full_at", Moment, 0, Always}, // when the limit is empty again: the fuller it is, the later
}

var usedValues = []Column{
	{"key", Text, short, Always},
	{"expires", Moment, 0, Always},
}

var leases = []Column{
	{"key", Text, short, Always},
	{"holder", Text, short, Always},
	{"until", Moment, 0, Always},
}

var suspensions = []Column{
	{"user_id", ID, short, Always},
	{"since", Moment, 0, Always},
	{"until", Moment, 0, Optional}, // null: until it is taken back
	{"reason", OptText, unlimited, Optional},
	{"actor", OptText, short, Optional},
}

var activities = []Column{
	{"id", Text, short, Always},
	{"user_id", ID, short, Always},
	{"time", Moment, 0, Always},
	{"type", Text, short, Always},
	{"provider", OptText, short, Optional},
	{"user_agent", OptText, unlimited, Optional},
	{"actor_kind", OptText, short, Optional},
}

var factors = []Column{
	{"id", Text, short, Always},
	{"user_id", ID, short, Always},
	{"kind", Text, short, Always},
	{"name", Text, unlimited, Always},
	{"secret", Text, unlimited, Always},
	{"step", Number, 0, Always},
	{"failures", Number, 0, Always},
	{"created", Moment, 0, Always},
	{"used", Moment, 0, Always},
}

var recoveryCodes = []Column{
	{"user_id", ID, short, Always},
	{"hash", Text, short, Always},
}

var challenges = []Column{
	{"id", Text, short, Always},
	{"purpose", Text, short, Always},
	{"tenant", OptText, short, Always},
	{"user_id", OptText, short, Always}, // text, whatever the ids of users are: the user need not exist
	{"identifier", OptText, long, Always},
	{"data", Text, unlimited, Always},
	{"tries", Number, 0, Always},
	{"created", Moment, 0, Always},
	{"expires", Moment, 0, Always},
}

var browsers = []Column{
	{"id", Text, short, Always},
	{"user_id", ID, short, Always},
	{"public_id", Text, short, Always},
	{"created", Moment, 0, Always},
	{"seen", Moment, 0, Always},
	{"trusted", Moment, 0, Always},
	{"expires", Moment, 0, Always},
	{"user_agent", OptText, unlimited, Always},
}

var passwords = []Column{
	{"user_id", ID, short, Always},
	{"hash", Text, unlimited, Always},
	{"failures", Number, 0, Always},
	{"renew", Flag, 0, Always},
	{"created", Moment, 0, Always},
	{"changed", Moment, 0, Always},
}

var auditEvents = []Column{
	{"id", Text, short, Always},
	{"type", Text, short, Always},
	{"outcome", Text, short, Always},
	{"time", Moment, 0, Always},
	{"tenant", OptText, short, Always},
	{"user_id", OptText, short, Always}, // text, whatever the ids of users are: the user need not exist
	{"session_id", OptText, short, Always},
	{"client", OptText, short, Always},
	{"data", Text, unlimited, Always},
	{"personal", OptText, unlimited, Always}, // null: erased
}
