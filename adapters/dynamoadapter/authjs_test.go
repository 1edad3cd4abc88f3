package dynamoadapter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

func newShared(t testing.TB, c dynamoadapter.Client, table string) *dynamoadapter.Adapter {
	t.Helper()
	a, err := dynamoadapter.New(c, table, dynamoadapter.Options{Layout: dynamoadapter.AuthJS()})
	ok(t, err)
	return a
}

func newSharedTable(t testing.TB, c *dynamodb.Client) string {
	t.Helper()
	table := tableName()
	ok(t, dynamoadapter.Migrate(t.Context(), c, table, dynamoadapter.Options{Layout: dynamoadapter.AuthJS()}))
	return table
}

// exceptions are promises of the suite that the table of Auth.js cannot keep, and
// why. docs/stores/dynamodb.md has them.
var exceptions = map[string]string{
	"Adapter/the id of a passkey's account fits": "a key has 1024 bytes; a longer id is refused",
	"ProviderLogoutAdapter":                      "no items for what a provider calls its sessions",
}

// TestExceptionsAreDocumented compares them with the page that has them.
func TestExceptionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/stores/dynamodb.md")
	ok(t, err)
	_, after, found := strings.Cut(string(text), "| what does not hold in Auth.js' DynamoDB table | why |\n|---|---|\n")
	table, _, _ := strings.Cut(after, "\n\n")
	var want []string
	for _, promise := range slices.Sorted(maps.Keys(exceptions)) {
		want = append(want, "| "+promise+" | "+exceptions[promise]+" |")
	}
	if !found || strings.TrimSpace(table) != strings.Join(want, "\n") {
		t.Errorf("the table has to be\n%s", strings.Join(want, "\n"))
	}
}

// TestAuthJSLayout runs the suites on the table of Auth.js, whose index is late.
// What is no session, user or account there is kept as in our layout.
func TestAuthJSLayout(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	except := slices.Collect(maps.Keys(exceptions))
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return newShared(t, newLate(c), newSharedTable(t, c)) }, except...)
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return newShared(t, newLate(c), newSharedTable(t, c)) })
	storagetest.TestStores(t, func(t *testing.T) any {
		return struct{ storage.SessionStore }{newShared(t, newLate(c), newSharedTable(t, c))}
	})
}

// late is a client whose indexes are late: they never know yet what is new since
// the same was asked last, and still know what has ended since.
type late struct {
	*dynamodb.Client
	mu   sync.Mutex
	seen map[string]map[string]map[string]types.AttributeValue // by what was asked, and by keys
}

func newLate(c *dynamodb.Client) *late {
	return &late{Client: c, seen: map[string]map[string]map[string]types.AttributeValue{}}
}

func (l *late) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := l.Client.Query(ctx, in, o...)
	if err != nil || in.IndexName == nil {
		return out, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := *in.TableName
	for _, name := range slices.Sorted(maps.Keys(in.ExpressionAttributeValues)) {
		asked += " " + in.ExpressionAttributeValues[name].(*types.AttributeValueMemberS).Value
	}
	answer := slices.Collect(maps.Values(l.seen[asked]))
	if l.seen[asked] == nil {
		l.seen[asked] = map[string]map[string]types.AttributeValue{}
	}
	for _, one := range out.Items {
		l.seen[asked][one["pk"].(*types.AttributeValueMemberS).Value+one["sk"].(*types.AttributeValueMemberS).Value] = one
	}
	out.Items = answer
	return out, nil
}

// S-025: among ours an account is taken from the moment on when somebody has it,
// whatever the index knows.
func TestTakenAccountsAreRefused(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	for n := range 10 {
		account := fmt.Sprint(n)
		var errs [8]error
		var all sync.WaitGroup
		for i := range errs {
			a := newShared(t, newLate(c), table)
			u, err := a.CreateUser(t.Context(), storage.User{})
			ok(t, err)
			all.Go(func() {
				errs[i] = a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: account})
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, storage.ErrConflict) {
				t.Errorf("who lost: %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d users have one account", won)
		}
	}
}

// TestInterruptedLink: whatever step a link ends after, the account is linked or
// free, the list says so too, and the next try decides.
func TestInterruptedLink(t *testing.T) {
	url := realservers.DynamoDB(t)
	plain := newClient(url, nil)
	table := newSharedTable(t, plain)
	a := newShared(t, plain, table)
	linked := 0
	for steps := range int64(8) {
		id := fmt.Sprint("u", steps)
		for _, id := range []string{id, "other-" + id} {
			_, err := a.CreateUser(t.Context(), storage.User{ID: id})
			ok(t, err)
		}
		account := storage.Account{UserID: id, Provider: "acme", ProviderAccountID: id}
		ctx, cancel := context.WithCancel(t.Context())
		ends := &transport{next: http.DefaultTransport, throttles: func(n int64) bool {
			if n > steps {
				cancel()
			}
			return n > steps
		}}
		cut := newShared(t, newClient(url, ends), table).LinkAccount(ctx, account)
		cancel()
		list, err := a.ListAccounts(t.Context(), id) // before anything completes it
		ok(t, err)
		u, err := a.GetUserByAccount(t.Context(), "acme", id)
		isLinked := err == nil && u.ID == id
		if isLinked {
			linked++
		}
		if !isLinked && !errors.Is(err, storage.ErrNotFound) || cut == nil && !isLinked || isLinked != (len(list) == 1) {
			t.Errorf("after %d steps, which ended with %v: %q, %v, and listed are %v", steps, cut, u.ID, err, list)
		}
		account.UserID = "other-" + id
		if err := a.LinkAccount(t.Context(), account); isLinked != errors.Is(err, storage.ErrConflict) {
			t.Errorf("after %d steps it is linked: %t, and another's link: %v", steps, isLinked, err)
		}
	}
	if linked == 0 || linked == 8 {
		t.Errorf("%d of 8 were linked: the steps are not what they were", linked)
	}
}

// TestAuthJSLostAnswers is S-068 for this layout. A session has ended, though who
// asked for it may hear that it was not there.
func TestAuthJSLostAnswers(t *testing.T) {
	url := realservers.DynamoDB(t)
	table := newSharedTable(t, newClient(url, nil))
	for every := int64(1); every <= 10; every += 3 {
		tr := &transport{next: http.DefaultTransport, loses: func(n int64) bool { return n%(2*every) == 1 }}
		a := newShared(t, newClient(url, tr), table)
		id := fmt.Sprint("every", every)
		if err := life(t.Context(), a, id); err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
		if _, err := a.GetSession(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the session lives: %v", err)
		}
		if u, err := a.GetUserByEmail(t.Context(), "new-"+id); err != nil || u.ID != id {
			t.Errorf("the user is %v, error %v", u, err)
		}
		if tr.missed.Load() == 0 {
			t.Error("no answer was lost")
		}
	}
}

// TestMembersThatTheTableKnows are refused: by expires DynamoDB would remove the
// item.
func TestMembersThatTheTableKnows(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	a := newShared(t, c, newSharedTable(t, c))
	for _, name := range []string{"pk", "GSI1SK", "expires", "latchkey"} {
		if _, err := a.CreateUser(t.Context(), storage.User{Extra: map[string]any{name: "1936866615"}}); err == nil || strings.Contains(err.Error(), "1936866615") {
			t.Errorf("a user with %s: %v", name, err)
		}
	}
	u, err := a.CreateUser(t.Context(), storage.User{})
	ok(t, err)
	if err := a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Extra: map[string]any{"pending": true}}); err == nil {
		t.Error("an account with pending was stored")
	}
}

// TestAuthJSMigrate: a table that is another's is named.
func TestAuthJSMigrate(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	ok(t, dynamoadapter.Migrate(t.Context(), c, table, dynamoadapter.Options{Layout: dynamoadapter.AuthJS()})) // again
	keys, index := dynamoadapter.AuthJS(), dynamoadapter.AuthJS()
	keys.PartitionKey = "other"
	index.IndexPartitionKey = "other"
	for what, refused := range map[string]struct {
		layout dynamoadapter.Layout
		table  string
		says   string
	}{
		"a table with other keys":  {keys, table, `"pk"`},
		"an index with other keys": {index, table, `"GSI1PK"`},
		"a table without an index": {dynamoadapter.AuthJS(), newTable(t, c), "GSI1"},
	} {
		if err := dynamoadapter.Migrate(t.Context(), c, refused.table, dynamoadapter.Options{Layout: refused.layout}); err == nil || !strings.Contains(err.Error(), refused.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAuthJSExpiry: what ends by itself has the one attribute by which DynamoDB
// removes items of such a table, and accounts and users have not.
func TestAuthJSExpiry(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	a, expires := newShared(t, c, table), time.Now().Add(time.Hour)
	ok(t, life(t.Context(), a, "u"))
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: expires}))
	ok(t, a.Revoke(t.Context(), "k", time.Now(), expires))
	_, err := a.Use(t.Context(), "k", expires)
	ok(t, err)
	out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	ok(t, err)
	ends := map[string]bool{"USER#u USER": false, "USER#u SESSION": true, "USER#u ACCOUNT": false, "SESSION": true, "VOID": true, "ONCE": true, "EMAIL": false, "ACCOUNT": false}
	for _, item := range out.Items {
		pk, sk := item["pk"].(*types.AttributeValueMemberS).Value, item["sk"].(*types.AttributeValueMemberS).Value
		kind, _, _ := strings.Cut(sk, "#")
		if pk == "USER#u" {
			kind = pk + " " + kind
		}
		want, known := ends[kind]
		if _, is := item["expires"].(*types.AttributeValueMemberN); !known || is != want {
			t.Errorf("%s %s ends by itself: %t", pk, sk, is)
		}
		delete(ends, kind)
	}
	if len(ends) > 0 {
		t.Errorf("there are none of %v", ends)
	}
}

func TestLayoutsThatNewRefuses(t *testing.T) {
	same, field := dynamoadapter.AuthJS(), dynamoadapter.AuthJS()
	same.SortKey = "pk"
	field.IndexSortKey = "email"
	for what, layout := range map[string]dynamoadapter.Layout{
		"names without AuthJS": {PartitionKey: "id"}, "two keys of one name": same, "a key that records have": field,
	} {
		if _, err := dynamoadapter.New(newClient("http://127.0.0.1:1", nil), "table", dynamoadapter.Options{Layout: layout}); err == nil {
			t.Errorf("%s: accepted", what)
		}
		if err := dynamoadapter.Migrate(t.Context(), newClient("http://127.0.0.1:1", nil), "table", dynamoadapter.Options{Layout: layout}); err == nil || !strings.Contains(err.Error(), "Layout") {
			t.Errorf("%s: Migrate returned %v", what, err)
		}
	}
}
