package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var authenticatorPromises = []promise[authenticatorStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a authenticatorStore) {
		for _, id := range [][]byte{nil, {}, {0}, []byte("none"), bytes.Repeat([]byte{1}, 10<<10)} {
			_, err := a.GetAuthenticator(t.Context(), id)
			is(t, "GetAuthenticator", err, storage.ErrNotFound)
			_, err = a.UpdateAuthenticatorCounter(t.Context(), id, 1)
			is(t, "UpdateAuthenticatorCounter", err, storage.ErrNotFound)
			_, err = a.UpdateAuthenticatorCounter(t.Context(), id, 0)
			is(t, "UpdateAuthenticatorCounter to zero", err, storage.ErrNotFound)
			is(t, "DeleteAuthenticator", a.DeleteAuthenticator(t.Context(), id), storage.ErrNotFound)
		}
		none, err := a.ListAuthenticators(t.Context(), "nobody")
		if err != nil || len(none) != 0 {
			t.Errorf("ListAuthenticators of nobody: %d, error %v", len(none), err)
		}
	}},
	{"a passkey is read as it was stored", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		full := storage.Authenticator{
			CredentialID: []byte{0, 0xff, 0xfe, '\'', 0}, UserID: u.ID, ProviderAccountID: "AP/+JwA=", PublicKey: bytes.Repeat([]byte{0xa5, 0}, 500),
			Counter: math.MaxUint32, DeviceType: "multiDevice", BackedUp: true, Transports: []string{"internal", "hybrid"},
		}
		bare := storage.Authenticator{CredentialID: []byte{1}, UserID: u.ID, ProviderAccountID: "AQ==", PublicKey: []byte{2}, DeviceType: "singleDevice"}
		for _, want := range []storage.Authenticator{full, bare} {
			ok(t, a.CreateAuthenticator(t.Context(), want))
			readAuthenticator(t, a, want)
		}
	}},
	{"R-181 the longest credential id fits, and its last byte counts", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		for i := range 2 {
			id := append(bytes.Repeat([]byte{0xfb}, 1022), byte(i))
			want := storage.Authenticator{CredentialID: id, UserID: u.ID, ProviderAccountID: strings.Repeat("A", 1364), PublicKey: []byte{byte(i)}, DeviceType: "singleDevice"}
			ok(t, a.CreateAuthenticator(t.Context(), want))
			readAuthenticator(t, a, want)
		}
	}},
	{"R-181 a registered credential id is ErrConflict for everyone", func(t *testing.T, a authenticatorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := newAuthenticator(t, a, ada, 5)
		for _, u := range []storage.User{ada, eve} {
			again := want
			again.UserID, again.PublicKey, again.Counter = u.ID, []byte("other"), 0
			is(t, "CreateAuthenticator", a.CreateAuthenticator(t.Context(), again), storage.ErrConflict)
		}
		readAuthenticator(t, a, want)
	}},
	{"of many registrations of one credential id exactly one succeeds", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		oneWins(t, "CreateAuthenticator", race.Run(16, func(i int) error {
			return a.CreateAuthenticator(t.Context(), storage.Authenticator{CredentialID: []byte("id"), UserID: u.ID, ProviderAccountID: "aWQ=", PublicKey: []byte{byte(i)}, DeviceType: "singleDevice"})
		}), storage.ErrConflict)
	}},
	{"a user's passkeys are theirs alone", func(t *testing.T, a authenticatorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := newAuthenticator(t, a, ada, 1)
		newAuthenticator(t, a, eve, 1)
		got, err := a.ListAuthenticators(t.Context(), ada.ID)
		ok(t, err)
		if len(got) != 1 {
			t.Fatalf("ListAuthenticators: %d, want 1", len(got))
		}
		same(t, "listed passkey", got[0], want)
	}},
	{"the counter only rises", func(t *testing.T, a authenticatorStore) {
		want := newAuthenticator(t, a, newUser(t, a, ""), 5)
		for _, step := range []struct {
			to  uint32
			err error
		}{{6, nil}, {6, storage.ErrConflict}, {5, storage.ErrConflict}, {0, storage.ErrConflict}, {1 << 31, nil}, {math.MaxUint32, nil}, {math.MaxUint32, storage.ErrConflict}} {
			got, err := a.UpdateAuthenticatorCounter(t.Context(), want.CredentialID, step.to)
			is(t, fmt.Sprint("UpdateAuthenticatorCounter to ", step.to), err, step.err)
			if step.err == nil {
				want.Counter = step.to
				same(t, "updated passkey", got, want)
			}
			readAuthenticator(t, a, want)
		}
	}},
	{"a passkey that does not count stays at zero", func(t *testing.T, a authenticatorStore) {
		want := newAuthenticator(t, a, newUser(t, a, ""), 0)
		for range 2 {
			got, err := a.UpdateAuthenticatorCounter(t.Context(), want.CredentialID, 0)
			ok(t, err)
			same(t, "updated passkey", got, want)
		}
	}},
	{"of many uses with one counter exactly one succeeds", func(t *testing.T, a authenticatorStore) {
		k := newAuthenticator(t, a, newUser(t, a, ""), 5)
		oneWins(t, "UpdateAuthenticatorCounter", race.Run(crowd, func(int) error {
			_, err := a.UpdateAuthenticatorCounter(t.Context(), k.CredentialID, 6)
			return err
		}), storage.ErrConflict)
	}},
	{"many uses with different counters leave the highest", func(t *testing.T, a authenticatorStore) {
		k := newAuthenticator(t, a, newUser(t, a, ""), 5)
		for i, err := range race.Run(crowd, func(i int) error {
			_, err := a.UpdateAuthenticatorCounter(t.Context(), k.CredentialID, uint32(6+i))
			return err
		}) {
			if err != nil && i < crowd-1 {
				is(t, "UpdateAuthenticatorCounter", err, storage.ErrConflict)
			} else {
				ok(t, err)
			}
		}
		k.Counter = 5 + crowd
		readAuthenticator(t, a, k)
	}},
	{"what the authenticator said last of its backup is kept, and the rest stays", func(t *testing.T, a authenticatorStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		want, other := newAuthenticator(t, a, ada, 5), newAuthenticator(t, a, eve, 5)
		for _, backedUp := range []bool{true, false} {
			want.BackedUp = backedUp
			got, err := a.UpdateAuthenticator(t.Context(), want.CredentialID, storage.AuthenticatorChange{BackedUp: &backedUp})
			ok(t, err)
			same(t, "updated passkey", got, want)
			readAuthenticator(t, a, want)
		}
		got, err := a.UpdateAuthenticator(t.Context(), want.CredentialID, storage.AuthenticatorChange{})
		ok(t, err)
		same(t, "passkey after no change", got, want)
		readAuthenticator(t, a, other)
		_, err = a.UpdateAuthenticator(t.Context(), []byte("unknown"), storage.AuthenticatorChange{BackedUp: &other.BackedUp})
		is(t, "UpdateAuthenticator", err, storage.ErrNotFound)
	}},
	{"DeleteAuthenticator removes one", func(t *testing.T, a authenticatorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		gone, kept := newAuthenticator(t, a, ada, 1), newAuthenticator(t, a, eve, 1)
		ok(t, a.DeleteAuthenticator(t.Context(), gone.CredentialID))
		_, err := a.GetAuthenticator(t.Context(), gone.CredentialID)
		is(t, "GetAuthenticator", err, storage.ErrNotFound)
		readAuthenticator(t, a, kept)
		newAuthenticator(t, a, ada, 1)
	}},
	{"records are copies", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		want := storage.Authenticator{CredentialID: []byte("id"), UserID: u.ID, ProviderAccountID: "aWQ=", PublicKey: []byte("key"), DeviceType: "singleDevice", Transports: []string{"usb"}}
		in := storage.Authenticator{CredentialID: []byte("id"), UserID: u.ID, ProviderAccountID: "aWQ=", PublicKey: []byte("key"), DeviceType: "singleDevice", Transports: []string{"usb"}}
		ok(t, a.CreateAuthenticator(t.Context(), in))
		out, err := a.GetAuthenticator(t.Context(), want.CredentialID)
		ok(t, err)
		for _, lent := range []storage.Authenticator{in, out} {
			clear(lent.CredentialID)
			clear(lent.PublicKey)
			clear(lent.Transports)
		}
		readAuthenticator(t, a, want)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		want := newAuthenticator(t, a, u, 1)
		ctx := cancelled(t)
		is(t, "CreateAuthenticator", a.CreateAuthenticator(ctx, storage.Authenticator{CredentialID: []byte("new"), UserID: u.ID, PublicKey: []byte("k")}), context.Canceled)
		_, err := a.GetAuthenticator(ctx, want.CredentialID)
		is(t, "GetAuthenticator", err, context.Canceled)
		_, err = a.ListAuthenticators(ctx, u.ID)
		is(t, "ListAuthenticators", err, context.Canceled)
		_, err = a.UpdateAuthenticatorCounter(ctx, want.CredentialID, 9)
		is(t, "UpdateAuthenticatorCounter", err, context.Canceled)
		is(t, "DeleteAuthenticator", a.DeleteAuthenticator(ctx, want.CredentialID), context.Canceled)
		readAuthenticator(t, a, want)
	}},
}

// newAuthenticator registers a passkey with an id that is made from the user's.
func newAuthenticator(t *testing.T, a authenticatorStore, u storage.User, counter uint32) storage.Authenticator {
	t.Helper()
	k := storage.Authenticator{CredentialID: []byte("key of " + u.ID), UserID: u.ID, ProviderAccountID: "p" + u.ID, PublicKey: []byte("cose"), Counter: counter, DeviceType: "singleDevice"}
	if err := a.CreateAuthenticator(t.Context(), k); err != nil {
		t.Fatalf("CreateAuthenticator: %v", err)
	}
	return k
}

func readAuthenticator(t *testing.T, a authenticatorStore, want storage.Authenticator) {
	t.Helper()
	got, err := a.GetAuthenticator(t.Context(), want.CredentialID)
	if err != nil {
		t.Errorf("GetAuthenticator: %v", err)
		return
	}
	same(t, "passkey", got, want)
}
