package natsadapter

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// markerTTL is how long watchers of a bucket can see that something has gone.
const markerTTL = time.Minute

// Migrate makes the bucket, in files and with so many replicas, if there is none.
// One that is there gets the settings that [New] asks for and the replicas, and
// keeps all others; if those cannot be, it is an error and nothing changes. It
// waits until the bucket can be used. Several instances may call it at once.
func Migrate(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) error {
	return failure(atFirst(ctx, js, func(ctx context.Context) error {
		there, err := js.Stream(ctx, streamOf(bucket))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = js.CreateStream(ctx, newBucket(bucket, replicas))
			if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				return err
			}
			there, err = js.Stream(ctx, streamOf(bucket)) // another instance was faster
		}
		if err != nil {
			return err
		}
		return mend(ctx, js, there.CachedInfo().Config, replicas)
	}))
}

// newBucket is what a key–value bucket is to NATS, but for direct reads, which
// its client always switches on.
func newBucket(bucket string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamOf(bucket), Subjects: []string{subjectsOf(bucket) + ">"}, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
		AllowMsgTTL: true, SubjectDeleteMarkerTTL: markerTTL,
	}
}

func mend(ctx context.Context, js jetstream.JetStream, has jetstream.StreamConfig, replicas int) error {
	to := has
	to.AllowDirect, to.AllowMsgTTL, to.Replicas = false, true, replicas
	if to.SubjectDeleteMarkerTTL <= 0 {
		to.SubjectDeleteMarkerTTL = markerTTL
	}
	if err := fits(to); err != nil {
		return err
	}
	if to.AllowDirect == has.AllowDirect && to.AllowMsgTTL == has.AllowMsgTTL && to.Replicas == has.Replicas && to.SubjectDeleteMarkerTTL == has.SubjectDeleteMarkerTTL {
		return nil
	}
	_, err := js.UpdateStream(ctx, to)
	return err
}
