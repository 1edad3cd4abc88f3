package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// asked is what a command says of a database, and its exit code.
func asked(t *testing.T, rawURL string, args ...string) (said string, code int) {
	t.Helper()
	var out bytes.Buffer
	environ := []string{"DATABASE_URL=" + rawURL, "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=hunter2", "AWS_REGION=us-east-1"}
	code = run(t.Context(), args, nil, &out, &out, environ)
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("%v: the password is told: %s", args, &out)
	}
	return out.String(), code
}

// step is a command, what it has to say, and its exit code; of the doctor it is one
// of many lines, which has failures of its own.
type step struct {
	command, says string
	code          int
}

func steps(t *testing.T, rawURL string, all ...step) {
	t.Helper()
	for _, s := range all {
		said, code := asked(t, rawURL, strings.Fields(s.command)...)
		if !strings.Contains(said, s.says) || s.command != "doctor" && code != s.code {
			t.Errorf("%s: %q and exit code %d, want %q and %d", s.command, said, code, s.says, s.code)
		}
	}
}

// TestServiceURLs: a password that was not escaped is told nobody.
func TestServiceURLs(t *testing.T) {
	for _, rawURL := range []string{
		"mongodb://me:hunter2/x@db/site", "mongodb://me:7777/hunter2@db/site", "mongodb://db/hunter2@db", "mongodb://me:hunter2@/site", "mongodb://me:hunter2@db/site?ssl=hunter2",
		"dynamodb://me:hunter2@table", "dynamodb://table:7777", "dynamodb://", "nats://me:hunter2/x@db/site", "nats://me:7777/hunter2@db/site", "nats://me:hunter2%zz@db/b",
	} {
		if said, code := asked(t, rawURL, "migrate"); code != 2 || strings.Contains(said, "7777") || !strings.Contains(said, "cannot be read") {
			t.Errorf("%s: %q and exit code %d", rawURL, said, code)
		}
	}
}

// TestMisplacedURLs: what is missing in a URL, or where it belongs, is said.
func TestMisplacedURLs(t *testing.T) {
	const goesElsewhere = "goes into REDIS_URL and needs no migration"
	steps(t, "nats://me:hunter2@db:4222", step{"migrate", "name the bucket: nats://host:4222/bucket", 2}, step{"doctor", "FAIL  database: name the bucket", 1})
	for _, scheme := range []string{"redis", "rediss"} {
		steps(t, scheme+"://me:hunter2@db:6379", step{"migrate", goesElsewhere, 2}, step{"sweep", goesElsewhere, 2}, step{"doctor", "FAIL  redis: db:6379: it does not answer", 1})
	}
}

func TestAcceptedNames(t *testing.T) {
	const refused = "--accept: nothing is reported by this name; it can be database, redis, AUTH_SECRET, "
	for _, name := range []string{"AUTH_SECERT", "Database", "postgres"} {
		steps(t, "", step{"doctor --accept " + name, refused, 2})
	}
	for _, name := range append([]string{"database", "redis", "AUTH_GITHUB_ID", "AUTH_OWN_LOGIN_SECRET", "https://id.example"}, readNames...) {
		if said, _ := asked(t, "", "doctor", "--accept", name); strings.Contains(said, refused) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

func TestDynamoDB(t *testing.T) {
	url := realservers.DynamoDB(t)
	for _, layout := range []string{"", "&layout=authjs"} {
		table := "auth" + strings.TrimPrefix(layout, "&layout=")
		where := `DynamoDB table "` + table + `": `
		steps(t, "dynamodb://"+table+"?endpoint="+url+layout,
			step{"migrate --check", where + "dynamoadapter: there is no such table", 1},
			step{"doctor", "FAIL  database: " + where + "dynamoadapter: there is no such table: was Migrate forgotten? Run `latchkey migrate`", 1},
			step{"migrate", where + "it has all that it needs.", 0},
			step{"migrate", where + "it has all that it needs.", 0},
			step{"migrate --check", where + "it lacks the removal of what has expired", 1}, // the server of the test knows none
			step{"doctor", "WARN  database: " + where + "it lacks the removal of what has expired", 1},
			step{"migrate --adopt", "only tables of Auth.js' PostgreSQL adapter", 2},
		)
	}
	steps(t, "dynamodb://auth?layout=authjs&endpoint="+url, step{"doctor", "FAIL  database: DynamoDB table \"auth\": dynamoadapter: the table has no index GSI1", 1})
	steps(t, "dynamodb://authauthjs?endpoint="+url, step{"doctor", "if it is one, its layout is AuthJS(), in a URL layout=authjs", 1})
	steps(t, "dynamodb://auth?layout=ours&endpoint="+url, step{"migrate", "layout is authjs or nothing", 2})
	c, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("x", "y", "")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamodb.NewFromConfig(c, func(o *dynamodb.Options) { o.BaseEndpoint = &url }).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: new("other"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: new("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	steps(t, "dynamodb://other?endpoint="+url, step{"doctor", `FAIL  database: DynamoDB table "other": dynamoadapter: the keys of the table are "id"`, 1})
}

func TestMongoDB(t *testing.T) {
	gate := realservers.MongoDB(t)
	host := strings.Trim(strings.TrimPrefix(gate.URL, "mongodb://"), "/")
	where := `MongoDB database "site" at ` + host + ": "
	steps(t, "mongodb://"+host+"/site",
		step{"doctor", "FAIL  database: " + where + "mongo: users, accounts, sessions, verification_tokens, authenticators: a unique index is missing: was Migrate forgotten? Run `latchkey migrate`", 1},
		step{"migrate --check", "a unique index is missing", 1},
		step{"migrate", where + "it lacks users: a partial index", 0}, // as the server of the test
		step{"doctor", "WARN  database: " + where + "it lacks sessions: the removal of what has expired", 1},
		step{"migrate --check", where + "it lacks sessions: the removal of what has expired", 1},
	)
	steps(t, "mongodb://me:hunter2@"+host, step{"migrate", "the URL of the database cannot be read", 2}) // of which name?
}

func TestNATS(t *testing.T) {
	n := realservers.NewNATS(t)
	host := strings.TrimPrefix(n.URL, "nats://")
	where := `NATS bucket "auth" at ` + host + ": "
	steps(t, "nats://me:hunter2@"+host+"/auth?replicas=1",
		step{"migrate --check", where + "natsadapter: there is no such bucket", 1},
		step{"doctor", "FAIL  database: " + where + "natsadapter: there is no such bucket: was Migrate forgotten?", 1},
		step{"migrate", where + "it lacks a third copy", 0},
		step{"doctor", "WARN  database: " + where + "it lacks a third copy", 1},
	)
	steps(t, "nats://"+host+"/auth", step{"migrate", "say how many copies", 1})
	nc, err := nats.Connect(n.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "theirs", History: 5, TTL: time.Hour, Storage: jetstream.MemoryStorage})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"direct reads are on", "marker TTL", "history", "everything in it expires"} {
		steps(t, "nats://"+host+"/theirs", step{"doctor", says, 1})
	}
	n.Crash()
	steps(t, "nats://me:hunter2@"+host+"/auth", step{"doctor", "FAIL  database: " + where + nobodyThere, 1})
}
