package natsadapter

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrNotMigrated is the error of calls on a bucket that is not there.
var ErrNotMigrated = errors.New("there is no such bucket: was Migrate forgotten?")

// Check returns nil if [New] accepts a bucket. It changes nothing, and ignores o. It returns
// [ErrNotMigrated] if the bucket does not exist, and [ErrNoJetStream] if JetStream is off.
// An error about settings names those by which the bucket would lose records or bring them
// back. Any other error says that js is nil, that bucket is empty, or that the call failed.
func Check(ctx context.Context, js jetstream.JetStream, bucket string, o Options) error {
	_, err := examine(ctx, js, bucket)
	return err
}

// Warnings returns what a bucket lacks that an adapter can do without until a server is
// lost: three copies that are online, and files. It returns nil if the bucket lacks
// nothing. For a bucket that [Check] does not accept it returns the error of Check.
func Warnings(ctx context.Context, js jetstream.JetStream, bucket string, o Options) ([]string, error) {
	found, err := examine(ctx, js, bucket)
	if err != nil {
		return nil, err
	}
	return lacks(found), nil
}

// examine reads the settings of a bucket. It returns the errors of [Check]; with an
// error about the settings it returns the settings, too.
func examine(ctx context.Context, js jetstream.JetStream, bucket string) (found *jetstream.StreamInfo, err error) {
	if js == nil || bucket == "" {
		return nil, errNeeded
	}
	err = retryFirst(ctx, js, func(ctx context.Context) error {
		s, err := js.Stream(ctx, streamOf(bucket))
		if err == nil {
			found = s.CachedInfo()
		}
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	return found, fits(found.Config)
}

// lacks returns what a bucket lacks, as [Warnings] returns it.
func lacks(found *jetstream.StreamInfo) (lacking []string) {
	if found.Config.Replicas < 3 {
		lacking = append(lacking, fmt.Sprintf("a third copy: with %d of them a server that is lost takes along what it was told last, or all", found.Config.Replicas))
	}
	if found.Config.Storage != jetstream.FileStorage {
		lacking = append(lacking, "files: what is in memory is gone when its servers end")
	}
	if found.Cluster == nil {
		return lacking
	}
	for _, copied := range found.Cluster.Replicas {
		if copied.Offline {
			lacking = append(lacking, fmt.Sprintf("the copy on %s, which is offline", copied.Name))
		}
	}
	return lacking
}
