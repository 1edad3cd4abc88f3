package natsadapter

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrNotMigrated is the error of calls on a bucket that is not there.
var ErrNotMigrated = errors.New("there is no such bucket: was Migrate forgotten?")

// Check looks whether a bucket is as [Migrate] leaves it, and changes nothing. The
// error is what [New] refuses: no bucket, [ErrNotMigrated], or one with settings
// that would lose or bring back something. lacking names what it can do without
// until a server is lost.
func Check(ctx context.Context, js jetstream.JetStream, bucket string) (lacking []string, err error) {
	if js == nil {
		return nil, errors.New("natsadapter: JetStream is needed")
	}
	var found *jetstream.StreamInfo
	err = atFirst(ctx, js, func(ctx context.Context) error {
		s, err := js.Stream(ctx, streamOf(bucket))
		if err == nil {
			found = s.CachedInfo()
		}
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	if err := fits(found.Config); err != nil {
		return nil, err
	}
	return lacks(found), nil
}

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
