package natsadapter

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// markerTTL is how long watchers of a bucket can see that something has gone.
const markerTTL = time.Minute

// Migrate creates the bucket in files, with o.Replicas copies or 1, if it does not exist. In
// an existing bucket it sets the number of copies, unless o.Replicas is 0. It also turns
// direct reads off, and allows the TTLs that [New] needs. If another setting is wrong, or the
// server refuses, it returns an error and changes nothing. While no server answers, it tries
// again, for ten seconds if ctx has no deadline. Several instances may call it at once.
func Migrate(ctx context.Context, js jetstream.JetStream, bucket string, o Options) error {
	if js == nil || bucket == "" {
		return errNeeded
	}
	return failure(retryFirst(ctx, js, func(ctx context.Context) error {
		there, err := js.Stream(ctx, streamOf(bucket))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = js.CreateStream(ctx, newBucket(bucket, cmp.Or(o.Replicas, 1)))
			if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				return err
			}
			there, err = js.Stream(ctx, streamOf(bucket)) // another instance was faster
		}
		if err != nil {
			return err
		}
		return mend(ctx, js, there.CachedInfo().Config, o)
	}))
}

// newBucket returns the settings of a new key–value bucket. They differ from those of
// the NATS client in that direct reads are off.
func newBucket(bucket string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamOf(bucket), Subjects: []string{subjectsOf(bucket) + ">"}, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
		AllowMsgTTL: true, SubjectDeleteMarkerTTL: markerTTL,
	}
}

// mend changes the settings of an existing bucket to those that [New] and o ask for. It
// returns an error, and changes nothing, if a setting that it cannot change is wrong.
func mend(ctx context.Context, js jetstream.JetStream, has jetstream.StreamConfig, o Options) error {
	to := has
	to.AllowDirect, to.AllowMsgTTL, to.Replicas = false, true, cmp.Or(o.Replicas, has.Replicas)
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
