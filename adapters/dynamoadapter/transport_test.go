package dynamoadapter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// transport throttles some of the requests, and loses the answers to some writes.
type transport struct {
	next              http.RoundTripper
	throttles, loses  func(n int64) bool // the n-th request, the n-th write
	requests, writes  atomic.Int64
	throttled, missed atomic.Int64
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if tr.throttles != nil && tr.throttles(tr.requests.Add(1)) {
		tr.throttled.Add(1)
		_ = r.Body.Close()
		body := `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`
		return &http.Response{
			StatusCode: http.StatusBadRequest, Body: io.NopCloser(strings.NewReader(body)), Request: r,
			Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"x"}},
		}, nil
	}
	action := r.Header.Get("X-Amz-Target")
	writes := strings.HasSuffix(action, "PutItem") || strings.HasSuffix(action, "UpdateItem") || strings.HasSuffix(action, "DeleteItem")
	// What was sent is done before the client goes on, even if it gives up: nothing
	// happens behind the back of its next try.
	answer, err := tr.next.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err == nil && writes && tr.loses != nil && tr.loses(tr.writes.Add(1)) {
		tr.missed.Add(1)
		_ = answer.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return answer, err
}

// life is what somebody does in the end: sign up, sign in, rename, sign out.
func life(ctx context.Context, a store, id string) error {
	for _, step := range []func() error{
		func() error { _, err := a.BeginSignUp(ctx, "acme", id, id); return err },
		func() error {
			_, err := a.CreateUser(ctx, storage.User{ID: id, Email: id + "@example.com"})
			return err
		},
		func() error {
			return a.LinkAccount(ctx, storage.Account{UserID: id, Provider: "acme", ProviderAccountID: id, Type: storage.TypeOIDC})
		},
		func() error { return a.EndSignUp(ctx, "acme", id) },
		func() error {
			return a.CreateSession(ctx, storage.StoredSession{Token: id, UserID: id, Expires: time.Now().Add(time.Hour)})
		},
		func() error { _, _, err := a.GetSessionAndUser(ctx, id); return err },
		func() error {
			_, err := a.UpdateUser(ctx, id, storage.UserChange{Email: new("new-" + id)})
			return err
		},
		func() error { _, err := a.DeleteSession(ctx, id); return err },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type store interface {
	storage.Adapter
	storage.SessionAdapter
	storage.SignUpAdapter
}

// S-068: where DynamoDB throttles, sign-ins take longer; where it only throttles
// they fail, and leave nothing that is in the way.
func TestThrottling(t *testing.T) {
	url := realservers.DynamoDB(t)
	plain := newClient(url, nil)
	t.Run("our layout", func(t *testing.T) { throttling(t, url, newTable(t, plain), newAdapter) })
	t.Run("Auth.js", func(t *testing.T) { throttling(t, url, newSharedTable(t, plain), newShared) })
}

func throttling(t *testing.T, url, table string, open func(testing.TB, dynamoadapter.Client, string) *dynamoadapter.Adapter) {
	some := &transport{next: http.DefaultTransport, throttles: func(n int64) bool { return n%10%3 == 1 }}
	a := open(t, newClient(url, some), table)
	for i := range 3 {
		ok(t, life(t.Context(), a, fmt.Sprint("u", i)))
	}
	if some.throttled.Load() == 0 {
		t.Error("nothing was throttled")
	}
	a = open(t, newClient(url, nil), table)
	for steps := range int64(16) { // from a later request on each time, nothing goes through
		all := &transport{next: http.DefaultTransport, throttles: func(n int64) bool { return n > steps }}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		id := fmt.Sprint("v", steps)
		err := life(ctx, open(t, newClient(url, all), table), id)
		cancel()
		if err == nil || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after %d steps: %v", steps, err)
		}
		if u, err := a.GetUserByEmail(t.Context(), id+"@example.com"); err == nil && u.ID != id {
			t.Errorf("after %d steps the e-mail address is %q's", steps, u.ID)
		}
		if _, err := a.GetUser(t.Context(), id); errors.Is(err, storage.ErrNotFound) { // the next try
			_, err = a.CreateUser(t.Context(), storage.User{ID: id, Email: id + "@example.com"})
			ok(t, err)
		}
	}
}

// TestThrottlingPasses: people are asked to try again when the client has.
func TestThrottlingPasses(t *testing.T) {
	url := realservers.DynamoDB(t)
	a := newAdapter(t, newClient(url, &transport{next: http.DefaultTransport, throttles: func(int64) bool { return true }}), "latchkey-x")
	if _, err := a.GetSession(t.Context(), "x"); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
}

// S-068: the client repeats a write whose answer was lost, and nobody is told
// that somebody else was faster.
func TestLostAnswers(t *testing.T) {
	url := realservers.DynamoDB(t)
	table := newTable(t, newClient(url, nil))
	for every := int64(1); every <= 10; every += 3 {
		tr := &transport{next: http.DefaultTransport, loses: func(n int64) bool { return n%(2*every) == 1 }}
		a := newAdapter(t, newClient(url, tr), table)
		ok(t, life(t.Context(), a, fmt.Sprint("every", every)))
		if tr.missed.Load() == 0 {
			t.Error("no answer was lost")
		}
	}
}

// TestErrorsHoldNoValues: what was sent stays out of the log.
func TestErrorsHoldNoValues(t *testing.T) {
	url := realservers.DynamoDB(t)
	a := newAdapter(t, newClient(url, &transport{next: http.DefaultTransport, throttles: func(int64) bool { return true }}), "latchkey-x")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := a.CreateSession(ctx, storage.StoredSession{Token: "secret-token", UserID: "secret-user", Expires: time.Now()})
	if err == nil || bytes.Contains([]byte(err.Error()), []byte("secret")) {
		t.Errorf("the error is %v", err)
	}
}
