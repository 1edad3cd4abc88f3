package test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// exception is a promise of the suite that the tables of others cannot keep.
type exception struct {
	promise string
	of      string // peers, or peer/dialect, with a space between them; empty: all
	reason  string
}

// holds says whether the exception is one of a peer's.
func (x exception) holds(peer string, d sqlstore.Dialect) bool {
	if x.of == "" {
		return true
	}
	for of := range strings.FieldsSeq(x.of) {
		name, dialect, one := strings.Cut(of, "/")
		if name == peer && (!one || dialect == string(d)) {
			return true
		}
	}
	return false
}

// What several promises are excepted for, as peer or peer/dialect.
const (
	everybody    = ""
	uniqueToken  = "d1 hasura kysely mikro-orm sequelize supabase"
	shortTexts   = "drizzle/mysql mikro-orm/mysql mikro-orm/postgres sequelize/mysql sequelize/postgres typeorm/mysql"
	shortIDs     = "drizzle/mysql kysely/mysql mikro-orm/mysql mikro-orm/postgres neon prisma/mysql sequelize/mysql sequelize/postgres typeorm/mysql"
	shortNumbers = "drizzle/mysql drizzle/postgres mikro-orm/mysql mikro-orm/postgres neon prisma/mysql prisma/postgres sequelize/mysql sequelize/postgres"
	shortCounter = "drizzle/mysql drizzle/postgres prisma/mysql prisma/postgres"
	anyCase      = "drizzle/mysql kysely/mysql mikro-orm/mysql prisma/mysql sequelize/mysql typeorm/mysql"
)

// foreignExceptions are those of docs/stores/authjs.md.
var foreignExceptions = []exception{
	{"AccountAdapter/members without a field of their own survive", everybody, "no column for them"},
	{"AccountAdapter/the e-mail address that came with an account survives", everybody, "no column for it"},
	{"SessionAdapter/how a session was opened survives", everybody, "no columns for it"},
	{"SessionAdapter/a renewal keeps how the session was opened", everybody, "no columns for it"},
	{"SessionRenewalAdapter/what was proven is kept", everybody, "no columns for it"},
	{"SessionRenewalAdapter/F-066 a renewed session keeps its id", "drizzle kysely/sqlite prisma", "no column for it: it is made of the token"},
	{"SessionAdapter/records are copies", everybody, "nothing in them that could be shared"},
	{choosesIDs, everybody, "no column for it, or an id of another form"},
	{"VerificationTokenAdapter/what a token is for survives", everybody, "no column for it"},
	{"AuthenticatorAdapter/name, model and dates of a passkey survive", everybody, "no columns for them"},
	{"VerificationTokenAdapter/an identifier may have several tokens, and a token several identifiers", uniqueToken, "the token alone is the key"},
	{"VerificationTokenAdapter/tokens and identifiers are compared exactly", uniqueToken + " drizzle/mysql prisma/mysql", "the token alone is the key, or the key takes any case for the same"},
	{"SessionAdapter/tokens are compared exactly", anyCase, "the key takes any case for the same: the second is refused"},
	{"Adapter/provider and account id are two things, compared exactly", "drizzle/mysql mikro-orm/mysql prisma/mysql", "the key takes any case for the same: the second is refused"},
	{"Adapter/the id of a passkey's account fits", shortIDs, "a column of 191 or 255 characters"},
	{"AuthenticatorAdapter/R-181 the longest credential id fits, and its last byte counts", "drizzle/mysql prisma/mysql", "a column of 191 or 255 characters"},
	{"AccountAdapter/every token field survives", shortTexts, "tokens of up to 255 characters"},
	{"AccountAdapter/expiry is kept to the second, far away too", shortNumbers, "a number that ends in 2038"},
	{"AuthenticatorAdapter/a passkey is read as it was stored", shortCounter, "a counter up to 2147483647"},
	{"AuthenticatorAdapter/the counter only rises", shortCounter, "a counter up to 2147483647"},
	{"SessionAdapter/expiry is kept far away too", "drizzle/mysql", "a time that ends in 2038"},
}

// changedForSuite are the two things in which the suite changes their tables, since
// too many promises use them.
var changedForSuite = []exception{
	{"a user without e-mail address", "hasura kysely prisma", "refused: the column is never null"},
	{"times below a second", "drizzle/mysql mikro-orm/mysql sequelize/mysql", "cut: the columns have none"},
}

// What our own tables do not keep where they are laid out, or served, in another way.
var (
	partitionExceptions = []exception{
		{"VerificationTokenAdapter/a pair that is taken is ErrConflict", "ours, links in partitions by expiry", "another expiry is another key"},
	}
	galeraExceptions = []exception{
		{"TxAdapter/a waiting caller can be cancelled", "ours on Galera", "nobody waits: nodes know nothing of each other's locks"},
	}
)

// promises are what the suite is not asked for.
func promises(list []exception) (except []string) {
	for _, x := range list {
		except = append(except, x.promise)
	}
	return except
}

// TestExceptionsAreDocumented compares all lists with the page that has them.
// S-009 and S-010: ours are among them.
func TestExceptionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/stores/authjs.md")
	ok(t, err)
	_, after, found := strings.Cut(string(text), "| what does not hold | where | why |\n|---|---|---|\n")
	table, _, _ := strings.Cut(after, "\n\n")
	if !found {
		t.Fatal("the page has no such table")
	}
	var want []string
	add := func(where string, x exception) { want = append(want, "| "+x.promise+" | "+where+" | "+x.reason+" |") }
	for _, x := range slices.Concat(foreignExceptions, changedForSuite) {
		add(cmp.Or(strings.ReplaceAll(x.of, " ", ", "), "all"), x)
	}
	for _, x := range slices.Concat(partitionExceptions, galeraExceptions) {
		add(x.of, x)
	}
	if strings.TrimSpace(table) != strings.Join(want, "\n") {
		t.Errorf("S-007 the table has to be\n%s", strings.Join(want, "\n"))
	}
}
