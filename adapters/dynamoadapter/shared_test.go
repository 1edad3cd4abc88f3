package dynamoadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

const iso = "2006-01-02T15:04:05.000Z"

var moment = time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)

type record = map[string]any

// pair is Auth.js' adapter and ours on one table.
type pair struct {
	js     *realservers.Peer
	ours   *dynamoadapter.Adapter
	client *dynamodb.Client
	table  string
	layout dynamoadapter.Layout
}

// TestSharedWithAuthJS has both work on one table at the same time.
func TestSharedWithAuthJS(t *testing.T) {
	url := realservers.DynamoDB(t)
	other := dynamoadapter.AuthJS()
	other.PartitionKey, other.SortKey, other.Index = "hash", "range", "byOther"
	other.IndexPartitionKey, other.IndexSortKey = "otherHash", "otherRange"
	for _, c := range []struct {
		name    string
		layout  dynamoadapter.Layout
		options map[string]string
	}{
		{"S-013 the usual names", dynamoadapter.AuthJS(), map[string]string{}},
		{"S-013 other names", other, map[string]string{
			"partitionKey": "hash", "sortKey": "range", "indexName": "byOther", "indexPartitionKey": "otherHash", "indexSortKey": "otherRange",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pair{client: newClient(url, nil), table: tableName(), layout: c.layout}
			ok(t, dynamoadapter.Migrate(t.Context(), p.client, p.table, dynamoadapter.Options{Layout: c.layout}))
			c.options["tableName"] = p.table
			given, err := json.Marshal(c.options)
			ok(t, err)
			p.js = realservers.NewPeer(t, "js", "@auth/dynamodb-adapter", url, string(given))
			p.ours, err = dynamoadapter.New(p.client, p.table, dynamoadapter.Options{Layout: c.layout})
			ok(t, err)
			t.Run("they write, we read", p.theyWrite)
			t.Run("we write, they read", p.weWrite)
			t.Run("each changes what the other wrote", p.bothChange)
			t.Run("people without an e-mail address are apart", p.withoutEmail)
			t.Run("each ends what the other began", p.bothEnd)
			t.Run("changes at one time survive", p.atOneTime)
		})
	}
}

// wants compares what a record has under each key of want, as text.
func wants(t *testing.T, what string, got, want record) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: none", what)
	}
	for key, value := range want {
		if fmt.Sprint(got[key]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], value)
		}
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func (p pair) theyWrite(t *testing.T) {
	ctx, js := t.Context(), p.js
	made := js.Call(t, "createUser", record{"name": "Ada", "email": "ada@example.com", "emailVerified": moment.Format(iso), "image": nil, "plan": "free"})
	id := made["id"].(string)
	js.Call(t, "linkAccount", record{
		"userId": id, "provider": "github", "type": "oauth", "providerAccountId": "42", "access_token": "at",
		"expires_at": 1936866615, "refresh_token": "rt", "id_token": "it", "scope": "read", "session_state": "ss", "token_type": "bearer",
	})
	link := record{"identifier": "ada@example.com", "token": "their-token"}
	js.Call(t, "createVerificationToken", record{"identifier": link["identifier"], "token": link["token"], "expires": moment.Format(iso)})

	want := storage.User{ID: id, Name: "Ada", Email: "ada@example.com", EmailVerified: moment, Extra: map[string]any{"plan": "free"}}
	for what, get := range map[string]func() (storage.User, error){
		"by id":                    func() (storage.User, error) { return p.ours.GetUser(ctx, id) },
		"by e-mail":                func() (storage.User, error) { return p.ours.GetUserByEmail(ctx, "ada@example.com") },
		"S-025 by account (index)": func() (storage.User, error) { return p.ours.GetUserByAccount(ctx, "github", "42") },
	} {
		u, err := get()
		ok(t, err)
		equal(t, what, u, want)
	}
	accounts, err := p.ours.ListAccounts(ctx, id)
	ok(t, err)
	if len(accounts) != 1 || accounts[0].ID == "" {
		t.Fatalf("accounts: %v", accounts)
	}
	accounts[0].ID = ""
	equal(t, "account", accounts[0], storage.Account{
		UserID: id, Provider: "github", ProviderAccountID: "42", Type: storage.TypeOAuth,
		Tokens: storage.Tokens{
			AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "read", SessionState: "ss", ExpiresAt: time.Unix(1936866615, 0).UTC(),
		},
	})
	for token, expires := range map[string]time.Time{"S-025 with a fraction": moment, "S-025 without a fraction": moment.Truncate(time.Second)} {
		js.Call(t, "createSession", record{"userId": id, "expires": expires.Format(iso), "sessionToken": token})
		s, u, err := p.ours.GetSessionAndUser(ctx, token)
		if err != nil || s.UserID != id || !s.Expires.Equal(expires) || s.ID == "" {
			t.Errorf("%s: %v until %v, error %v", token, s, s.Expires, err)
		}
		equal(t, "user of a session", u, want)
	}
	token, err := p.ours.UseVerificationToken(ctx, "ada@example.com", "their-token")
	if err != nil || !token.Expires.Equal(moment) {
		t.Errorf("verification token until %v, error %v", token.Expires, err)
	}
	if js.Call(t, "useVerificationToken", link) != nil {
		t.Error("a token was used twice")
	}
}

func (p pair) weWrite(t *testing.T) {
	ctx, js := t.Context(), p.js
	u, err := p.ours.CreateUser(ctx, storage.User{Name: "Eve & <Co>", Email: "eve@example.com", EmailVerified: moment, Image: "i"})
	ok(t, err)
	ok(t, p.ours.LinkAccount(ctx, storage.Account{
		UserID: u.ID, Provider: "github", ProviderAccountID: "43", Type: storage.TypeOAuth,
		Tokens: storage.Tokens{AccessToken: "at", ExpiresAt: moment},
	}))
	ok(t, p.ours.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "eve@example.com", Token: "our-token", Expires: moment}))
	want := record{"id": u.ID, "name": "Eve & <Co>", "email": "eve@example.com", "emailVerified": moment.Format(iso), "image": "i"}
	wants(t, "by id", js.Call(t, "getUser", u.ID), want)
	wants(t, "by e-mail", js.Call(t, "getUserByEmail", "eve@example.com"), want)
	wants(t, "by account", js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "43"}), want)
	for token, expires := range map[string]time.Time{"with": moment, "without": moment.Truncate(time.Second)} {
		ok(t, p.ours.CreateSession(ctx, storage.StoredSession{Token: "our-session-" + token, UserID: u.ID, Expires: expires, UserAgent: "Firefox"}))
		both := js.Call(t, "getSessionAndUser", "our-session-"+token)
		wants(t, "session", both["session"].(record), record{"sessionToken": "our-session-" + token, "userId": u.ID, "expires": expires.Format(iso)})
		wants(t, "its user", both["user"].(record), want)
	}
	wants(t, "verification token", js.Call(t, "useVerificationToken", record{"identifier": "eve@example.com", "token": "our-token"}),
		record{"identifier": "eve@example.com", "token": "our-token", "expires": moment.Format(iso)})
	if _, err := p.ours.UseVerificationToken(ctx, "eve@example.com", "our-token"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a token was used twice: %v", err)
	}
	if _, err := p.ours.CreateUser(ctx, storage.User{Email: "ada@example.com"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("their e-mail address: %v", err)
	}
	if _, err := p.ours.UpdateUser(ctx, u.ID, storage.UserChange{Email: new("ada@example.com")}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("a change to their e-mail address: %v", err)
	}
	if err := p.ours.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "github", ProviderAccountID: "42"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("S-025 their account: %v", err)
	}
}

func (p pair) bothChange(t *testing.T) {
	ctx, js := t.Context(), p.js
	ada, err := p.ours.GetUserByEmail(ctx, "ada@example.com")
	ok(t, err)
	_, err = p.ours.UpdateUser(ctx, ada.ID, storage.UserChange{Name: new("Countess")})
	ok(t, err)
	wants(t, "changed user", js.Call(t, "updateUser", record{"id": ada.ID, "image": "new"}), record{"name": "Countess", "image": "new", "plan": "free"})
	_, err = p.ours.UpdateUser(ctx, ada.ID, storage.UserChange{Email: new("countess@example.com")})
	ok(t, err)
	wants(t, "by the new e-mail address", js.Call(t, "getUserByEmail", "countess@example.com"), record{"id": ada.ID, "image": "new", "plan": "free"})
	if js.Call(t, "getUserByEmail", "ada@example.com") != nil {
		t.Error("they find somebody by the e-mail address that was left")
	}
	js.Call(t, "updateUser", record{"id": ada.ID, "email": "lady@example.com"})
	if _, err := p.ours.GetUserByEmail(ctx, "countess@example.com"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("we find somebody by the e-mail address that they left: %v", err)
	}
	_, err = p.ours.UpdateUser(ctx, ada.ID, storage.UserChange{Name: new("Lady")})
	ok(t, err)
	wants(t, "whom we have written since", js.Call(t, "getUserByEmail", "lady@example.com"), record{"id": ada.ID})
	later := moment.Add(time.Hour)
	ok(t, p.ours.UpdateSession(ctx, "S-025 with a fraction", later))
	wants(t, "renewed session", js.Call(t, "getSessionAndUser", "S-025 with a fraction")["session"].(record), record{"expires": later.Format(iso)})
	js.Call(t, "updateSession", record{"sessionToken": "our-session-with", "expires": later.Format(iso)})
	s, _, err := p.ours.GetSessionAndUser(ctx, "our-session-with")
	if err != nil || !s.Expires.Equal(later) || s.UserAgent != "Firefox" {
		t.Errorf("session %v until %v, error %v", s, s.Expires, err)
	}
}

// withoutEmail: Auth.js has all of them under one key of the index.
func (p pair) withoutEmail(t *testing.T) {
	ctx := t.Context()
	theirs := p.js.Call(t, "createUser", record{"name": "Theirs", "email": nil})["id"].(string)
	for range 2 {
		u, err := p.ours.CreateUser(ctx, storage.User{Name: "Ours"})
		ok(t, err)
		wants(t, "our user", p.js.Call(t, "getUser", u.ID), record{"name": "Ours", "email": nil})
	}
	for _, email := range []string{"null", "undefined", ""} {
		if u, err := p.ours.GetUserByEmail(ctx, email); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%q finds %v, error %v", email, u, err)
		}
	}
	_, err := p.ours.UpdateUser(ctx, theirs, storage.UserChange{Name: new("Renamed")})
	ok(t, err)
	wants(t, "their user", p.js.Call(t, "getUser", theirs), record{"name": "Renamed", "email": nil})
}

// bothEnd: nothing of a deleted user is left, but for notes that expire.
func (p pair) bothEnd(t *testing.T) {
	ctx, js := t.Context(), p.js
	ada, err := p.ours.GetUserByAccount(ctx, "github", "42")
	ok(t, err)
	eve, err := p.ours.GetUserByEmail(ctx, "eve@example.com")
	ok(t, err)
	js.Call(t, "deleteSession", "our-session-without")
	if _, err := p.ours.GetSession(ctx, "our-session-without"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they ended a session that we still find: %v", err)
	}
	n, err := p.ours.DeleteSessions(ctx, ada.ID, "")
	if err != nil || n != 2 {
		t.Errorf("%d of their sessions ended, error %v, want 2", n, err)
	}
	if js.Call(t, "getSessionAndUser", "S-025 with a fraction") != nil {
		t.Error("we ended a session that they still find")
	}
	js.Call(t, "unlinkAccount", record{"provider": "github", "providerAccountId": "43"})
	if _, err := p.ours.GetAccount(ctx, "github", "43"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they unlinked an account that we still find: %v", err)
	}
	again := storage.Account{UserID: ada.ID, Provider: "github", ProviderAccountID: "43"}
	ok(t, p.ours.LinkAccount(ctx, again))
	_, err = p.ours.UnlinkAccount(ctx, "github", "42")
	ok(t, err)
	if js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "42"}) != nil {
		t.Error("we unlinked an account that they still find")
	}
	_, err = p.ours.DeleteUser(ctx, ada.ID)
	ok(t, err)
	for _, id := range []string{"42", "43"} {
		if js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": id}) != nil {
			t.Error("we deleted a user that they still find")
		}
	}
	if p.layout == dynamoadapter.AuthJS() { // with other names of keys it looks for pk and sk, and fails
		js.Call(t, "deleteUser", eve.ID)
		if _, err := p.ours.GetUserByEmail(ctx, "eve@example.com"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("they deleted a user that we still find: %v", err)
		}
		_, err = p.ours.CreateUser(ctx, storage.User{Email: "eve@example.com"})
		ok(t, err)
	}
	if left := p.itemsOf(t, ada.ID); len(left) > 0 {
		t.Errorf("left of a deleted user: %v", left)
	}
}

// itemsOf are the sort keys of what a user has.
func (p pair) itemsOf(t *testing.T, user string) (left []string) {
	t.Helper()
	out, err := p.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &p.table})
	ok(t, err)
	pk, sk := "pk", "sk"
	if p.layout.PartitionKey != "" {
		pk, sk = p.layout.PartitionKey, p.layout.SortKey
	}
	for _, item := range out.Items {
		if item[pk].(*types.AttributeValueMemberS).Value == "USER#"+user {
			left = append(left, item[sk].(*types.AttributeValueMemberS).Value)
		}
	}
	return left
}

// atOneTime: neither side writes over what the other has written meanwhile.
func (p pair) atOneTime(t *testing.T) {
	ctx := t.Context()
	id := p.js.Call(t, "createUser", record{"name": "0", "email": "both@example.com", "plan": "0"})["id"].(string)
	for n := 1; n <= 20; n++ {
		theirs := make(chan error, 1)
		go func() {
			_, err := p.js.Ask("updateUser", record{"id": id, "image": fmt.Sprint(n), "plan": fmt.Sprint(n)})
			theirs <- err
		}()
		_, err := p.ours.UpdateUser(ctx, id, storage.UserChange{Name: new(fmt.Sprint(n))})
		ok(t, err)
		ok(t, <-theirs)
		u, err := p.ours.GetUser(ctx, id)
		if want := fmt.Sprint(n); err != nil || u.Name != want || u.Image != want || u.Extra["plan"] != want {
			t.Fatalf("after change %d: %+v, error %v", n, u, err)
		}
	}
}
