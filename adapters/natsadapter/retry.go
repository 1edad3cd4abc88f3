package natsadapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	patience = 10 * time.Second      // for a call whose context has no deadline
	attempt  = time.Second           // for one answer
	rest     = 20 * time.Millisecond // before the same is asked again
)

// retry calls f until a server answers, and returns the error of that call, or nil. Each
// call of f gets a context that ends after a second. f must be safe to repeat: the server
// may have carried out a call whose answer was lost. While copies choose a new leader no
// server answers, and the client does not ask twice. retry gives up when ctx ends, or
// after ten seconds if ctx has no deadline. It then returns an error that wraps the error
// of the context and the last error of f that is not context.DeadlineExceeded, if any.
func retry(ctx context.Context, f func(context.Context) error) error {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var cause error // the last error that says more than that there was no answer
	for {
		try, cancel := context.WithTimeout(ctx, attempt)
		err := f(try)
		cancel()
		if err == nil || !isUnanswered(err) {
			return err
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			cause = err
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			if cause == nil {
				return ctx.Err()
			}
			return fmt.Errorf("natsadapter: %w: %w", ctx.Err(), cause)
		}
	}
}

// ErrNoJetStream is the error of [Migrate], [Check], [Warnings] and [New] if JetStream
// is off at the server.
var ErrNoJetStream = errors.New("JetStream is off there: start the server with -js, or with jetstream in its configuration")

// retryFirst calls f as retry does, for the first calls to a server. It returns
// ErrNoJetStream if JetStream is off at the server.
func retryFirst(ctx context.Context, js jetstream.JetStream, f func(context.Context) error) error {
	return retry(ctx, func(ctx context.Context) error {
		err := f(ctx)
		if !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
			return err
		}
		nc := js.Conn()
		if on, _ := nc.ConnectedServerJetStream(); on || !nc.IsConnected() { // no leader yet, or no server
			return err
		}
		return ErrNoJetStream // no other server that this one is linked to has answered either
	})
}

// What servers say while they cannot know.
const (
	codeNoLeader  = 10008
	codeNotLeader = 10009
	codeNotReady  = 10163
)

// isUnanswered reports whether err says that no server has answered, or only one that
// cannot know the answer for now.
func isUnanswered(err error) bool {
	for _, silence := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, silence) {
			return true
		}
	}
	said, is := errors.AsType[*jetstream.APIError](err)
	return is && (said.ErrorCode == codeNoLeader || said.ErrorCode == codeNotLeader || said.ErrorCode == codeNotReady)
}

// isConflict reports whether another call has written the key meanwhile. Servers have
// one code for a stream without copies, and one for others.
func isConflict(err error) bool {
	said, is := errors.AsType[*jetstream.APIError](err)
	return is && (said.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || said.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// failure returns an error with the name of this package in front. It returns nil and
// errors of a context as they are. For a missing bucket the result wraps ErrNotMigrated,
// too. The texts of servers and of their client hold no values.
func failure(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("natsadapter: %w (%w)", ErrNotMigrated, err)
	}
	return fmt.Errorf("natsadapter: %w", err)
}
