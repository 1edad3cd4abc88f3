package redisadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

const iso = "2006-01-02T15:04:05.000Z"

var moment = time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)

type record = map[string]any

// pair is one of Auth.js' adapters and ours on one server.
type pair struct {
	js     *realservers.Peer
	ours   *redisadapter.Adapter
	client *redis.Client
}

// TestSharedWithAuthJS has both work on one server at the same time: S-014 is
// Upstash, S-015 unstorage.
func TestSharedWithAuthJS(t *testing.T) {
	for _, c := range []struct {
		name, peer, prefix string
		layout             redisadapter.Layout
	}{
		{"S-014 Upstash", "upstash", "", redisadapter.AuthJS()},
		{"S-014 Upstash with a prefix", "upstash", "site:", redisadapter.AuthJS()},
		{"S-015 unstorage", "unstorage", "", redisadapter.Unstorage()},
		{"S-015 unstorage with a prefix", "unstorage", "site:", redisadapter.Unstorage()},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := realservers.NewRedis(t)
			client := closing(t, redis.NewClient(&redis.Options{Addr: server.Addr}))
			p := pair{realservers.NewPeer(t, "js", "@auth/upstash-redis-adapter", c.peer, server.Addr, c.prefix), on(t, client, redisadapter.Options{Layout: c.layout, Prefix: c.prefix}), client}
			t.Run("they write, we read", p.theyWrite)
			t.Run("we write, they read", p.weWrite)
			t.Run("each changes what the other wrote", p.bothChange)
			t.Run("S-023 people without an e-mail address are apart", p.withoutEmail)
			t.Run("S-023 indexes that say little", p.poorIndexes)
			if c.peer == "unstorage" {
				t.Run("passkeys", p.passkeys)
			}
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
	js.Call(t, "createSession", record{"userId": id, "expires": moment.Format(iso), "sessionToken": "their-session"})
	link := record{"identifier": "ada@example.com", "token": "their-token"}
	js.Call(t, "createVerificationToken", record{"identifier": link["identifier"], "token": link["token"], "expires": moment.Format(iso)})

	want := storage.User{ID: id, Name: "Ada", Email: "ada@example.com", EmailVerified: moment, Extra: map[string]any{"plan": "free"}}
	for what, get := range map[string]func() (storage.User, error){
		"by id":      func() (storage.User, error) { return p.ours.GetUser(ctx, id) },
		"by e-mail":  func() (storage.User, error) { return p.ours.GetUserByEmail(ctx, "ada@example.com") },
		"by account": func() (storage.User, error) { return p.ours.GetUserByAccount(ctx, "github", "42") },
	} {
		u, err := get()
		ok(t, err)
		equal(t, what, u, want)
	}
	accounts, err := p.ours.ListAccounts(ctx, id)
	ok(t, err)
	equal(t, "accounts", accounts, []storage.Account{{
		ID: "github:42", UserID: id, Provider: "github", ProviderAccountID: "42", Type: storage.TypeOAuth,
		Tokens: storage.Tokens{
			AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "read", SessionState: "ss", ExpiresAt: time.Unix(1936866615, 0).UTC(),
		},
	}})
	s, u, err := p.ours.GetSessionAndUser(ctx, "their-session")
	if err != nil || s.UserID != id || !s.Expires.Equal(moment) || u.ID != id || s.ID == "" {
		t.Errorf("session %v of %v, error %v", s, u, err)
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
	ok(t, p.ours.CreateSession(ctx, storage.StoredSession{Token: "our-session", UserID: u.ID, Expires: moment, UserAgent: "Firefox"}))
	ok(t, p.ours.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "eve@example.com", Token: "our-token", Expires: moment}))

	want := record{"id": u.ID, "name": "Eve & <Co>", "email": "eve@example.com", "emailVerified": moment.Format(iso), "image": "i"}
	wants(t, "by id", js.Call(t, "getUser", u.ID), want)
	wants(t, "by e-mail", js.Call(t, "getUserByEmail", "eve@example.com"), want)
	wants(t, "by account", js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "43"}), want)
	both := js.Call(t, "getSessionAndUser", "our-session")
	wants(t, "session", both["session"].(record), record{"sessionToken": "our-session", "userId": u.ID, "expires": moment.Format(iso)})
	wants(t, "its user", both["user"].(record), want)
	wants(t, "verification token", js.Call(t, "useVerificationToken", record{"identifier": "eve@example.com", "token": "our-token"}),
		record{"identifier": "eve@example.com", "token": "our-token", "expires": moment.Format(iso)})
	if _, err := p.ours.UseVerificationToken(ctx, "eve@example.com", "our-token"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a token was used twice: %v", err)
	}
	if _, err := p.ours.CreateUser(ctx, storage.User{Email: "ada@example.com"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("somebody else's e-mail address: %v", err)
	}
	if err := p.ours.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "github", ProviderAccountID: "42"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("somebody else's account: %v", err)
	}
}

func (p pair) bothChange(t *testing.T) {
	ctx, js := t.Context(), p.js
	ada, err := p.ours.GetUserByEmail(ctx, "ada@example.com")
	ok(t, err)
	_, err = p.ours.UpdateUser(ctx, ada.ID, storage.UserChange{Name: new("Countess")})
	ok(t, err)
	wants(t, "changed user", js.Call(t, "updateUser", record{"id": ada.ID, "image": "new", "email": "countess@example.com"}),
		record{"name": "Countess", "image": "new", "plan": "free"})
	if _, err := p.ours.GetUserByEmail(ctx, "ada@example.com"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the e-mail address that they left behind finds somebody: %v", err)
	}
	_, err = p.ours.CreateUser(ctx, storage.User{Email: "ada@example.com"})
	ok(t, err)
	later := moment.Add(time.Hour)
	ok(t, p.ours.UpdateSession(ctx, "their-session", later))
	wants(t, "renewed session", js.Call(t, "getSessionAndUser", "their-session")["session"].(record), record{"expires": later.Format(iso)})
	js.Call(t, "updateSession", record{"sessionToken": "our-session", "expires": later.Format(iso)})
	s, eve, err := p.ours.GetSessionAndUser(ctx, "our-session")
	if err != nil || !s.Expires.Equal(later) || s.UserAgent != "Firefox" {
		t.Errorf("session %v until %v, error %v", s, s.Expires, err)
	}
	_, err = p.ours.DeleteSession(ctx, "their-session")
	ok(t, err)
	js.Call(t, "deleteSession", "our-session")
	if js.Call(t, "getSessionAndUser", "their-session") != nil {
		t.Error("we deleted a session that they still find")
	}
	if _, _, err := p.ours.GetSessionAndUser(ctx, "our-session"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they deleted a session that we still find: %v", err)
	}
	_, err = p.ours.DeleteUser(ctx, ada.ID)
	ok(t, err)
	if js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "42"}) != nil {
		t.Error("we deleted a user that they still find")
	}
	js.Call(t, "deleteUser", eve.ID)
	if _, err := p.ours.GetUserByAccount(ctx, "github", "43"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they deleted a user that we still find: %v", err)
	}
}

// withoutEmail: Auth.js keeps all of them under one key.
func (p pair) withoutEmail(t *testing.T) {
	ctx := t.Context()
	theirs := p.js.Call(t, "createUser", record{"name": "Theirs", "email": nil})["id"].(string)
	var ours []string
	for _, name := range []string{"First", "Second"} {
		u, err := p.ours.CreateUser(ctx, storage.User{Name: name})
		ok(t, err)
		ours = append(ours, u.ID)
	}
	for _, email := range []string{"null", "undefined", ""} {
		if u, err := p.ours.GetUserByEmail(ctx, email); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%q finds %v, error %v", email, u, err)
		}
	}
	_, err := p.ours.DeleteUser(ctx, ours[0])
	ok(t, err)
	wants(t, "their user", p.js.Call(t, "getUser", theirs), record{"name": "Theirs"})
	_, err = p.ours.GetUser(ctx, ours[1])
	ok(t, err)
}

// poorIndexes: theirs know the last account and the last session, and an unlink
// leaves its account in them, because the key is misspelled.
func (p pair) poorIndexes(t *testing.T) {
	ctx, js := t.Context(), p.js
	u, err := p.ours.CreateUser(ctx, storage.User{Email: "mary@example.com"})
	ok(t, err)
	for i, token := range []string{"m1", "m2", "m3"} {
		ok(t, p.ours.CreateSession(ctx, storage.StoredSession{Token: token, UserID: u.ID, Expires: moment}))
		ok(t, p.ours.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: fmt.Sprint(i)}))
	}
	js.Call(t, "createSession", record{"userId": u.ID, "expires": moment.Format(iso), "sessionToken": "m4"})
	js.Call(t, "linkAccount", record{"userId": u.ID, "provider": "acme", "type": "oauth", "providerAccountId": "3"})
	js.Call(t, "unlinkAccount", record{"provider": "acme", "providerAccountId": "3"})
	accounts, err := p.ours.ListAccounts(ctx, u.ID)
	ok(t, err)
	if len(accounts) != 3 {
		t.Errorf("%d accounts, want 3: %v", len(accounts), accounts)
	}
	js.Call(t, "linkAccount", record{"userId": u.ID, "provider": "acme", "type": "oauth", "providerAccountId": "3"})
	n, err := p.ours.DeleteSessions(ctx, u.ID, "")
	if err != nil || n != 4 {
		t.Errorf("%d sessions ended, error %v, want ours and their last", n, err)
	}
	for _, token := range []string{"m1", "m2", "m3", "m4"} {
		if js.Call(t, "getSessionAndUser", token) != nil {
			t.Errorf("session %s lives on", token)
		}
	}
	_, err = p.ours.DeleteUser(ctx, u.ID)
	ok(t, err)
	left, err := p.client.Keys(ctx, "*"+u.ID+"*").Result()
	ok(t, err)
	if len(left) > 0 {
		t.Errorf("left of a deleted user: %v", left)
	}
	for i := range 4 {
		if _, err := p.ours.GetAccount(ctx, "acme", fmt.Sprint(i)); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("account %d of a deleted user: %v", i, err)
		}
	}
}

// passkeys are kept by unstorage alone, whose keys have no slashes.
func (p pair) passkeys(t *testing.T) {
	ctx, js := t.Context(), p.js
	made := js.Call(t, "createUser", record{"name": "Kay", "email": "kay@example.com"})
	id := made["id"].(string)
	raw := map[string][]byte{"+/+/": {0xfb, 0xff, 0xbf}, "AQID": {1, 2, 3}, "//8=": {0xff, 0xff}}
	js.Call(t, "createAuthenticator", record{
		"credentialID": "+/+/", "userId": id, "providerAccountId": "+/+/", "credentialPublicKey": "Y29zZQ==", "counter": 1,
		"credentialDeviceType": "multiDevice", "credentialBackedUp": true, "transports": "internal,hybrid",
	})
	want := storage.Authenticator{
		CredentialID: raw["+/+/"], UserID: id, ProviderAccountID: "+/+/", PublicKey: []byte("cose"), Counter: 1,
		DeviceType: "multiDevice", BackedUp: true, Transports: []string{"internal", "hybrid"},
	}
	got, err := p.ours.GetAuthenticator(ctx, raw["+/+/"])
	ok(t, err)
	equal(t, "their passkey", got, want)
	for _, credential := range []string{"AQID", "//8="} {
		ok(t, p.ours.CreateAuthenticator(ctx, storage.Authenticator{
			CredentialID: raw[credential], UserID: id, ProviderAccountID: credential, PublicKey: []byte("cose"), DeviceType: "singleDevice",
			Name: "key", Created: moment,
		}))
		wants(t, "our passkey", js.Call(t, "getAuthenticator", credential), record{
			"credentialID": credential, "userId": id, "credentialPublicKey": "Y29zZQ==", "counter": 0, "credentialDeviceType": "singleDevice", "credentialBackedUp": false,
		})
	}
	js.Call(t, "updateAuthenticatorCounter", "AQID", 5)
	if _, err := p.ours.UpdateAuthenticatorCounter(ctx, raw["AQID"], 5); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("a counter that they have seen: %v", err)
	}
	got, err = p.ours.UpdateAuthenticatorCounter(ctx, raw["AQID"], 6)
	if err != nil || got.Name != "key" || !got.Created.Equal(moment) {
		t.Errorf("our passkey after their sign-in: %+v, error %v", got, err)
	}
	for what, ids := range map[string][]string{"theirs": theirCredentials(t, js, id), "ours": ourCredentials(t, p.ours, id)} {
		if !slices.Equal(ids, slices.Sorted(maps.Keys(raw))) {
			t.Errorf("%s: listed are %v", what, ids)
		}
	}
	ok(t, p.ours.DeleteAuthenticator(ctx, raw["+/+/"]))
	if js.Call(t, "getAuthenticator", "+/+/") != nil {
		t.Error("we deleted a passkey that they still find")
	}
}

func theirCredentials(t *testing.T, js *realservers.Peer, user string) (ids []string) {
	t.Helper()
	list, err := js.Ask("listAuthenticatorsByUserId", user)
	ok(t, err)
	for _, one := range list.([]any) {
		ids = append(ids, one.(record)["credentialID"].(string))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func ourCredentials(t *testing.T, a *redisadapter.Adapter, user string) (ids []string) {
	t.Helper()
	list, err := a.ListAuthenticators(t.Context(), user)
	ok(t, err)
	for _, k := range list {
		text, err := json.Marshal(k.CredentialID)
		ok(t, err)
		ids = append(ids, string(text[1:len(text)-1]))
	}
	slices.Sort(ids)
	return ids
}
