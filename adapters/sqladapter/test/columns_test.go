package test

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// The columns of every table, each with its kind: K key, short word; A e-mail
// e-mail, subject, token; T any text; I instant; N number; B flag; ! not null.
var columns = map[string]string{
	"users": "id K!, name T, email A, emailVerified I, image T, extra T, created I, name_key A, provisioned I",
	"accounts": "id K!, userId K!, type K!, provider K!, providerAccountId A!, refresh_token T, access_token T, expires_at N, " +
		"id_token T, scope T, session_state T, token_type T, authorization_details T, token_extra T, extra T, email A, email_vouched B",
	"sessions": "id K!, userId K!, sessionToken A!, expires I!, created I, user_agent T, tenant K, provider K, " +
		"provider_sid K, provider_sub K, provider_issued I, sealed T, proved I, amr K, acr K, actor K, actor_session K",
	"verification_token": "identifier A!, token A!, expires I!, purpose K",
	"authenticators": "credentialID A!, userId K!, providerAccountId A!, credentialPublicKey T!, counter N!, " +
		"credentialDeviceType K!, credentialBackedUp B!, transports T, name T, aaguid K, created I, used I, user_handle K",
	"revocations":         "key K!, at I!, expires I!",
	"limits":              "key K!, full_at I!",
	"used_values":         "key K!, expires I!",
	"leases":              "key K!, holder K!, until I!",
	"suspensions":         "user_id K!, since I!, until I, reason T, actor K",
	"activities":          "id K!, user_id K!, time I!, type K!, provider K, user_agent T, actor_kind K",
	"factors":             "id K!, user_id K!, kind K!, name T!, secret T!, step N!, failures N!, created I!, used I",
	"recovery_codes":      "user_id K!, hash K!",
	"challenges":          "id K!, purpose K!, tenant K, user_id K, identifier A, data T!, tries N!, created I!, expires I!",
	"browsers":            "id K!, user_id K!, public_id K!, created I!, seen I!, trusted I, expires I!, user_agent T",
	"passwords":           "user_id K!, hash T!, failures N!, renew B!, created I!, changed I!",
	"audit_events":        "id K!, type K!, outcome K!, time I!, tenant K, user_id K, session_id K, client K, data T!, personal T",
	"latchkey_migrations": "version bigint!", // in every engine
}

// kinds are what each engine calls them.
var kinds = map[sqlstore.Dialect]map[string]string{
	sqlstore.Postgres: {"K": "text", "A": "text", "T": "text", "I": "timestamp with time zone", "N": "bigint", "B": "boolean"},
	sqlstore.MySQL: {
		"K": "varbinary(255)", "A": "varbinary(1400)", "T": "mediumtext utf8mb4", "I": "bigint", "N": "bigint", "B": "tinyint(1)",
	},
	sqlstore.SQLite: {"K": "text", "A": "text", "T": "text", "I": "integer", "N": "integer", "B": "integer"},
}

// columnsOf asks a database for the type of each "table.column".
func (e engine) columnsOf(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.Query(map[sqlstore.Dialect]string{
		sqlstore.Postgres: `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = current_schema()`,
		sqlstore.MySQL: `SELECT table_name, column_name, CONCAT(REGEXP_REPLACE(column_type, '^bigint\\(.*', 'bigint'),
			IF(character_set_name IS NULL, '', CONCAT(' ', character_set_name))), is_nullable
			FROM information_schema.columns WHERE table_schema = DATABASE()`,
		sqlstore.SQLite: `SELECT t.name, c.name, lower(c.type), CASE WHEN c."notnull" OR c.pk THEN 'NO' ELSE 'YES' END
			FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
	}[e.dialect])
	ok(t, err)
	defer func() { _ = rows.Close() }()
	found := map[string]string{}
	for rows.Next() {
		var table, column, kind, nullable string
		ok(t, rows.Scan(&table, &column, &kind, &nullable))
		if nullable == "NO" {
			kind += " not null"
		}
		found[table+"."+column] = kind
	}
	ok(t, rows.Err())
	return found
}

// wantColumns spells the table above as an engine does.
func (e engine) wantColumns() map[string]string {
	want := map[string]string{}
	for table, list := range columns {
		for column := range strings.SplitSeq(list, ", ") {
			name, kind, _ := strings.Cut(column, " ")
			kind, required := strings.CutSuffix(kind, "!")
			want[table+"."+name] = cmp.Or(kinds[e.dialect][kind], kind)
			if required {
				want[table+"."+name] += " not null"
			}
		}
	}
	return want
}

func TestColumns(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		got, want := e.columnsOf(t, db), e.wantColumns()
		for name, kind := range want {
			if got[name] != kind {
				t.Errorf("%s is %q, want %q", name, got[name], kind)
			}
			delete(got, name)
		}
		if len(got) != 0 {
			t.Errorf("nobody asked for %v", slices.Sorted(maps.Keys(got)))
		}
		for column, table := range map[string]string{
			"provider_sid": "sessions", "provider_sub": "sessions", "purpose": "challenges", "user_id": "challenges", "expires": "challenges",
			"public_id": "browsers",
		} {
			if !e.indexed(t, db, table, column) {
				t.Errorf("there is no index on %s.%s", table, column)
			}
		}
	})
}

// indexed says whether a column is the first of an index.
func (e engine) indexed(t *testing.T, db *sql.DB, table, column string) bool {
	t.Helper()
	return count(t, db, fmt.Sprintf(map[sqlstore.Dialect]string{
		sqlstore.Postgres: `SELECT count(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
			WHERE i.indrelid = '%s'::regclass AND a.attname = '%s'`,
		sqlstore.MySQL: `SELECT count(*) FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s' AND seq_in_index = 1`,
		sqlstore.SQLite: `SELECT count(*) FROM pragma_index_list('%s') l JOIN pragma_index_info(l.name) c WHERE c.seqno = 0 AND c.name = '%s'`,
	}[e.dialect], table, column)) > 0
}

// added are the columns that adoption gives to the tables of Auth.js.
var added = map[string][]string{
	"users":              {"extra"},
	"accounts":           {"authorization_details", "token_extra", "extra", "email", "email_vouched"},
	"verification_token": {"purpose"},
	"authenticators":     {"name", "aaguid", "created", "used", "user_handle"},
	"sessions": {
		"created", "user_agent", "tenant", "provider", "provider_sid", "provider_sub", "provider_issued", "sealed", "proved", "amr", "acr", "actor", "actor_session",
	},
}

// TestAdoptionAddsColumns takes over databases that Auth.js' own adapter
// filled.
func TestAdoptionAddsColumns(t *testing.T) {
	server := servers.Postgres(t)
	empty := postgresSchemas(server)
	e := engine{dialect: sqlstore.Postgres}
	for name, schema := range map[string]string{
		"integer ids": authJS, "UUID ids": withUUIDs(authJS), "passkeys": authJS + authJSPasskeys,
	} {
		t.Run(name, func(t *testing.T) {
			db := authJSDatabase(t, empty, schema)
			before, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: sqlstore.AuthJS()})
			ok(t, err)
			theyWrite(t, newPeer(t, server, db), before)
			theirs := e.columnsOf(t, db)
			for range 2 {
				ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
			}
			got, want := e.columnsOf(t, db), e.wantColumns()
			for table, names := range added {
				for _, column := range names {
					if name := table + "." + column; theirs[name] != "" || got[name] != want[name] {
						t.Errorf("%s was %q and is %q, want %q", name, theirs[name], got[name], want[name])
					}
				}
			}
			for name := range want {
				if got[name] == "" {
					t.Errorf("there is no column %s", name)
				}
			}
			if !e.indexed(t, db, "sessions", "provider_sid") || !e.indexed(t, db, "sessions", "provider_sub") {
				t.Error("an index of sessions is missing")
			}
			adoptedRows(t, adopted(t, db))
		})
	}
}

// adoptedRows reads what Auth.js wrote, and adds what has every field.
func adoptedRows(t *testing.T, a *sqladapter.Adapter) {
	t.Helper()
	theirs, err := a.GetAccount(t.Context(), "github", "42")
	if err != nil || theirs.Email != "" || theirs.EmailVouched {
		t.Errorf("their account came with %q, error %v", theirs.Email, err)
	}
	s, _, err := a.GetSessionAndUser(t.Context(), "their session")
	if err != nil || s.Tenant != "" || s.AMR != nil || !s.Proved.IsZero() {
		t.Errorf("their session is %v, error %v", s, err)
	}
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{
		Token: "ours", UserID: theirs.UserID, Expires: moment, Tenant: "t", AMR: []string{"pwd", "otp"}, ProviderIssued: moment,
	}))
	s, _, err = a.GetSessionAndUser(t.Context(), "ours")
	if err != nil || s.Tenant != "t" || fmt.Sprint(s.AMR) != "[pwd otp]" || !s.ProviderIssued.Equal(moment) {
		t.Errorf("our session is %v, error %v", s, err)
	}
}

// TestLayoutWithoutColumns drops every column that a layout may be without.
func TestLayoutWithoutColumns(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		names := map[string]string{}
		for _, column := range []string{"provider_sid", "provider_sub", "actor_session"} { // SQLite drops no column that has an index
			exec(t, db, "DROP INDEX sessions_"+column+map[bool]string{true: " ON sessions"}[e.dialect == sqlstore.MySQL])
		}
		for table, columns := range added {
			for _, column := range columns {
				exec(t, db, "ALTER TABLE "+table+" DROP COLUMN "+column)
				names[table+"."+column] = ""
			}
		}
		a := e.adapter(t, db, sqladapter.Options{Layout: sqlstore.Layout{Names: names}})
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com", Extra: map[string]any{"k": "v"}})
		ok(t, err)
		fields(t, a, u)
	})
}

// fields writes every field and reads the optional ones back empty.
func fields(t *testing.T, a *sqladapter.Adapter, u storage.User) {
	t.Helper()
	ctx, long := t.Context(), strings.Repeat("x", 2000) // longer than the columns would be
	ok(t, a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC, Email: long, EmailVouched: true}))
	account, err := a.GetAccount(ctx, "acme", "1")
	if err != nil || account.Email != "" || account.EmailVouched {
		t.Errorf("account %v, error %v", account, err)
	}
	ok(t, a.CreateSession(ctx, storage.StoredSession{
		Token: "t", UserID: u.ID, Expires: moment, Created: moment, UserAgent: "Firefox", Tenant: long, Provider: "acme",
		ProviderSID: "sid", ProviderSub: "sub", ProviderIssued: moment, Sealed: long, Proved: moment, AMR: []string{"pwd"}, ACR: long,
	}))
	s, _, err := a.GetSessionAndUser(ctx, "t")
	ok(t, err)
	if got, want := fmt.Sprint(s), fmt.Sprint(storage.StoredSession{ID: s.ID, Token: "t", UserID: u.ID, Expires: moment}); got != want {
		t.Errorf("session %v, want %v", got, want)
	}
	ok(t, a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "i", Token: "t", Expires: moment, Purpose: long}))
	token, err := a.UseVerificationToken(ctx, "i", "t")
	if err != nil || token.Purpose != "" || !token.Expires.Equal(moment) {
		t.Errorf("token %v, error %v", token, err)
	}
	key := storage.Authenticator{CredentialID: []byte("id"), UserID: u.ID, ProviderAccountID: "p", PublicKey: []byte("k"), DeviceType: "singleDevice"}
	named := key
	named.Name, named.AAGUID, named.Created, named.Used = long, long, moment, moment
	ok(t, a.CreateAuthenticator(ctx, named))
	if got, err := a.GetAuthenticator(ctx, key.CredentialID); err != nil || fmt.Sprint(got) != fmt.Sprint(key) {
		t.Errorf("passkey %v, error %v, want %v", got, err, key)
	}
}

// TestTextTooLongIsRefused proves that nothing is cut off where columns end.
func TestTextTooLongIsRefused(t *testing.T) {
	e := engines[2]
	a := e.adapter(t, e.migrated(t, e.start(t)), sqladapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	for name, s := range map[string]storage.StoredSession{
		"tenant": {Tenant: strings.Repeat("x", 256)}, "acr": {ACR: strings.Repeat("x", 256)}, "amr": {AMR: []string{strings.Repeat("x", 256)}},
	} {
		s.Token, s.UserID, s.Expires = name, u.ID, moment
		if err := a.CreateSession(t.Context(), s); err == nil {
			t.Errorf("a long %s was accepted", name)
		}
	}
	long := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Email: strings.Repeat("x", 1401)}
	if err := a.LinkAccount(t.Context(), long); err == nil {
		t.Error("a long e-mail address was accepted")
	}
	long.Email = long.Email[1:]
	ok(t, a.LinkAccount(t.Context(), long))
}
