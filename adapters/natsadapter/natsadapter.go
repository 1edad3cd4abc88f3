package natsadapter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// Adapter keeps everything in a bucket of JetStream. Make one with [New].
// It is safe for concurrent use.
type Adapter struct{ *kvstore.Store }

// Options says how the bucket of an [Adapter] is kept. The zero value suits a single
// server.
type Options struct {
	// Replicas is how many copies of the bucket [Migrate] makes; NATS allows up to
	// five. With three, the loss of one server loses nothing. Zero makes one copy of
	// a new bucket, and keeps the number of copies of an existing one. [New] and
	// [Check] accept any number of copies.
	Replicas int
}

var errNeeded = errors.New("natsadapter: JetStream and a bucket are needed")

// New returns an adapter on a bucket that [Migrate] has made. It asks the server for the
// bucket's settings. It returns the errors of [Check], such as [ErrNotMigrated] for a bucket
// that does not exist, [ErrNoJetStream], and an error that names the settings by which the
// bucket would lose records or bring them back. Credentials, TLS and reconnecting are those
// of the client; the clock is [time.Now]. New ignores o.
func New(ctx context.Context, js jetstream.JetStream, bucket string, o Options) (*Adapter, error) {
	if js == nil || bucket == "" {
		return nil, errNeeded
	}
	c := &conn{js: js, subjects: subjectsOf(bucket)}
	if o := js.Options(); o.Domain != "" {
		c.way = "$JS." + o.Domain + ".API."
	} else if o.APIPrefix != "" {
		c.way = strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	var streams [2]jetstream.Stream
	for i := range streams {
		err := retryFirst(ctx, js, func(ctx context.Context) (err error) {
			streams[i], err = js.Stream(ctx, streamOf(bucket))
			return err
		})
		if err != nil {
			return nil, failure(err)
		}
	}
	c.stream, c.lists = streams[0], streams[1]
	if err := fits(c.stream.CachedInfo().Config); err != nil {
		return nil, err
	}
	return &Adapter{kvstore.New(c, kvstore.Options{})}, nil
}

// streamOf and subjectsOf return the name of a bucket's stream, and what the subjects of
// its keys begin with.
func streamOf(bucket string) string   { return "KV_" + bucket }
func subjectsOf(bucket string) string { return "$KV." + bucket + "." }

// fits returns nil for settings that an adapter can work with, and otherwise an error
// that names each setting by which the bucket would lose records or bring them back.
func fits(s jetstream.StreamConfig) error {
	var wrong []string
	for _, rule := range []struct {
		broken bool
		why    string
	}{
		{s.Mirror != nil, "it is a mirror, which is late"},
		{len(s.Sources) > 0, "it copies from others, late: what was ended would be back"},
		{s.SubjectTransform != nil, "it keeps keys under other names, where no call looks"},
		{s.Retention != jetstream.LimitsPolicy, "it keeps only messages that a consumer waits for"},
		{s.PersistMode == jetstream.AsyncPersistMode, "it answers writes before they are in files"},
		{s.NoAck, "it answers no writes"},
		{s.AllowDirect, "direct reads are on: followers would answer, late, and an ended session would be back"},
		{!s.AllowMsgTTL || s.SubjectDeleteMarkerTTL <= 0, "there is no marker TTL: nothing that has expired would go"},
		{s.MaxMsgsPerSubject != 1, "it keeps a history: what was ended would be back when its mark goes"},
		{s.MaxAge != 0, "everything in it expires, users included"},
		{s.Discard != jetstream.DiscardNew, "it makes room by removing what is oldest, users included"},
		{s.DiscardNewPerSubject, "it refuses changes of what is there: nothing could be ended"},
		{s.DenyPurge, "it cannot be purged, which is how entries of lists are removed"},
	} {
		if rule.broken {
			wrong = append(wrong, rule.why)
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("natsadapter: the bucket %s cannot be used: %s (Migrate sets up what can be changed)", strings.TrimPrefix(s.Name, "KV_"), strings.Join(wrong, "; "))
}

// DBSystem returns the name of the database for traces.
func (a *Adapter) DBSystem() string { return "nats" }
