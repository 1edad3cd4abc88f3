package natsadapter

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// conn keeps one key for each record, and one for each entry of a list.
type conn struct {
	js       jetstream.JetStream
	stream   jetstream.Stream
	lists    jetstream.Stream // for Info, which replaces its settings; stream keeps those of New
	subjects string           // what the subjects of all keys begin with
	way      string           // prefix of subjects in messages to another domain or account
}

// subject returns the subject of a record's key.
func (c *conn) subject(k kvstore.Key) string { return c.subjects + string(k.Kind) + "." + k.Name }

// list returns what the subjects of all entries of a user's list begin with.
func (c *conn) list(user string) string { return c.subjects + "b." + user + "." }

// entry returns the subject of an entry of a user's list.
func (c *conn) entry(user string, entry kvstore.Key) string {
	return c.list(user) + string(entry.Kind) + "." + entry.Name
}

// message is what is under a key. A key that was never written has neither sequence
// nor version; a deleted one has no version.
type message struct {
	sequence uint64
	version  string // as its writer made it
	value    []byte
}

// record returns the record of a message. The record's version has the message's
// sequence behind an "@", so that a write over what was just read needs no further read.
func (m message) record(k kvstore.Key) kvstore.Record {
	return kvstore.Record{Key: k, Version: m.version + "@" + strconv.FormatUint(m.sequence, 10), Value: m.value}
}

// seen takes apart a version that the method record made. It returns the message without
// its value. known is false if the version has no sequence: the caller must then read the
// message. An empty version stands for a key without a message.
func seen(version string) (m message, known bool) {
	if version == "" {
		return m, true
	}
	text, sequence, _ := strings.Cut(version, "@")
	n, err := strconv.ParseUint(sequence, 10, 64)
	return message{sequence: n, version: text}, err == nil
}

var errForeign = errors.New("a key holds what was not written by this package")

// look reads a key from the leader of the bucket's copies. It returns the zero message,
// and no error, for a key that was never written, and a message without a version for a
// deleted key.
func (c *conn) look(ctx context.Context, k kvstore.Key) (m message, err error) {
	var raw *jetstream.RawStreamMsg
	err = retry(ctx, func(ctx context.Context) (err error) {
		raw, err = c.stream.GetLastMsgForSubject(ctx, c.subject(k))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return m, nil
	}
	if err != nil {
		return m, failure(err)
	}
	m.sequence = raw.Sequence
	if len(raw.Data) == 0 { // a mark of the server's, or of Delete
		return m, nil
	}
	version, value, ok := strings.Cut(string(raw.Data), "\n")
	if !ok {
		return m, failure(errForeign)
	}
	m.version, m.value = version, []byte(value)
	return m, nil
}

// Get implements [kvstore.Conn].
func (c *conn) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	if len(keys) == 1 {
		m, err := c.look(ctx, keys[0])
		if err != nil || m.version == "" {
			return nil, err
		}
		return []kvstore.Record{m.record(keys[0])}, nil
	}
	return c.getMany(ctx, keys)
}

// mostAtOnce is how many keys one call reads at the same time. Only followers answer
// for several keys in one round trip.
const mostAtOnce = 16

// getMany returns the records that exist, in any order, by up to mostAtOnce reads at the same
// time. After an error it begins no further reads, and returns the error and what it found.
func (c *conn) getMany(ctx context.Context, keys []kvstore.Key) (found []kvstore.Record, err error) {
	var (
		mu    sync.Mutex
		asked sync.WaitGroup
	)
	for side := range min(mostAtOnce, len(keys)) {
		asked.Go(func() {
			for i := side; i < len(keys); i += mostAtOnce {
				m, failed := c.look(ctx, keys[i])
				mu.Lock()
				if failed != nil {
					err = failed
				} else if m.version != "" {
					found = append(found, m.record(keys[i]))
				}
				over := err != nil
				mu.Unlock()
				if over {
					return
				}
			}
		})
	}
	asked.Wait()
	return found, err
}

// Put implements [kvstore.Conn]. It returns nil if the key has r.Version already.
func (c *conn) Put(ctx context.Context, r kvstore.Record, over string) error {
	at, known := seen(over)
	wanted := at.version
	for {
		if !known {
			var err error
			switch at, err = c.look(ctx, r.Key); {
			case err != nil:
				return err
			case at.version == r.Version:
				return nil
			case at.version != wanted:
				return storage.ErrConflict
			}
		}
		err := c.publish(ctx, at.sequence, func() *nats.Msg { return c.written(r) })
		if !isConflict(err) {
			return failure(err)
		}
		known = false
	}
}

// written returns the message to publish for a record. It marks the message of a record
// that was ended as a deletion, although it has a value. The server then removes that
// very message when it expires, and puts no marker of its own in its place that could
// collide with a write of ours.
func (c *conn) written(r kvstore.Record) *nats.Msg {
	m := nats.NewMsg(c.way + c.subject(r.Key))
	m.Data = append(append(append(make([]byte, 0, len(r.Version)+1+len(r.Value)), r.Version...), '\n'), r.Value...)
	if r.IsVoid() {
		m.Header.Set("KV-Operation", "PURGE")
	}
	if !r.Until.IsZero() {
		m.Header.Set("Nats-TTL", life(time.Until(r.Until)))
	}
	return m
}

// longest is the longest time that a server can add to its clock without an overflow.
const longest = 100 * 365 * 24 * time.Hour

// life returns the Nats-TTL of a message that is to live for d. It is a second
// more and at least a minute, because the server has a clock of its own. It is
// "never" if d is beyond longest.
func life(d time.Duration) string {
	if d > longest {
		return "never"
	}
	return strconv.Itoa(int(max(d, time.Minute)/time.Second) + 1)
}

// Delete implements [kvstore.Conn]. The server keeps a marker in place of the record for
// a minute.
func (c *conn) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	wanted, _ := seen(version)
	for {
		at, err := c.look(ctx, k)
		switch {
		case err != nil:
			return kvstore.Record{}, err
		case at.version == "":
			return kvstore.Record{}, storage.ErrNotFound
		case version != "" && at.version != wanted.version:
			return kvstore.Record{}, storage.ErrConflict
		}
		err = c.publish(ctx, at.sequence, func() *nats.Msg {
			m := nats.NewMsg(c.way + c.subject(k))
			m.Header.Set("KV-Operation", "PURGE")
			m.Header.Set("Nats-TTL", life(0))
			return m
		})
		if !isConflict(err) {
			return at.record(k), failure(err)
		}
	}
}

// publish writes over the message that has the sequence over; 0 stands for no message.
// It calls message for each try. If the last message of the subject has another
// sequence, publish writes nothing, and isConflict is true for the error. The other
// message may be that of an earlier try whose answer was lost: callers read the key then.
func (c *conn) publish(ctx context.Context, over uint64, message func() *nats.Msg) error {
	return retry(ctx, func(ctx context.Context) error {
		_, err := c.js.PublishMsg(ctx, message(), jetstream.WithExpectLastSequencePerSubject(over))
		return err
	})
}

// Own implements [kvstore.Conn]. It first writes the entry as if there were none, and
// reads it only if there is one. An entry that is to be kept longer already stays as it
// is.
func (c *conn) Own(ctx context.Context, user string, entry kvstore.Key, until time.Time) error {
	for over := uint64(0); ; {
		err := c.publish(ctx, over, func() *nats.Msg { return c.listed(user, entry, until) })
		if !isConflict(err) {
			return failure(err)
		}
		var kept bool
		if over, kept, err = c.lookEntry(ctx, user, entry, until); err != nil || kept {
			return err
		}
	}
}

// listed returns the message to publish for an entry. Its data are the time until which
// the entry is kept, in seconds since 1970, and empty for an entry that is kept for
// ever.
func (c *conn) listed(user string, entry kvstore.Key, until time.Time) *nats.Msg {
	m := nats.NewMsg(c.way + c.entry(user, entry))
	if !until.IsZero() {
		m.Data = strconv.AppendInt(nil, until.Unix(), 10)
		m.Header.Set("Nats-TTL", life(time.Until(until)))
	}
	return m
}

// lookEntry reads an entry. It returns the sequence of the entry's message, or 0 if
// there is none. kept reports whether the entry is kept until the given time or longer;
// a zero until means for ever.
func (c *conn) lookEntry(ctx context.Context, user string, entry kvstore.Key, until time.Time) (sequence uint64, kept bool, err error) {
	var raw *jetstream.RawStreamMsg
	err = retry(ctx, func(ctx context.Context) (err error) {
		raw, err = c.stream.GetLastMsgForSubject(ctx, c.entry(user, entry))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, failure(err)
	}
	if raw.Header.Get("Nats-Marker-Reason") != "" { // it has just expired
		return raw.Sequence, false, nil
	}
	at, err := strconv.ParseInt(string(raw.Data), 10, 64)
	return raw.Sequence, err != nil || !until.IsZero() && at >= until.Unix(), nil
}

// Disown implements [kvstore.Conn]. It leaves no marker: no entry is ever used again.
func (c *conn) Disown(ctx context.Context, user string, entry kvstore.Key) error {
	return failure(retry(ctx, func(ctx context.Context) error {
		return c.stream.Purge(ctx, jetstream.WithPurgeSubject(c.entry(user, entry)))
	}))
}

// Owned implements [kvstore.Conn]. It asks the leader for the subjects of the list. A
// consumer, the usual way to list keys, may be at a follower, which is late.
func (c *conn) Owned(ctx context.Context, user string) (entries []kvstore.Key, err error) {
	var info *jetstream.StreamInfo
	err = retry(ctx, func(ctx context.Context) (err error) {
		info, err = c.lists.Info(ctx, jetstream.WithSubjectFilter(c.list(user)+">"))
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	for subject := range info.State.Subjects {
		kind, name, ok := strings.Cut(strings.TrimPrefix(subject, c.list(user)), ".")
		if ok {
			entries = append(entries, kvstore.Key{Kind: kvstore.Kind(kind), Name: name})
		}
	}
	return entries, nil
}
