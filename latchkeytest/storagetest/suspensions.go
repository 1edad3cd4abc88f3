package storagetest

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

type suspensionStore interface {
	storage.Adapter
	storage.SuspensionAdapter
}

type activityStore interface {
	storage.Adapter
	storage.ActivityAdapter
}

var suspensionPromises = []promise[suspensionStore]{
	{"a suspension is read as it was stored, and with its user", func(t *testing.T, a suspensionStore) {
		u := newUser(t, a, "ada@example.com")
		link(t, a, u, "1")
		for _, want := range []storage.Suspension{
			{Since: instant},
			{Since: instant, Until: instant.Add(time.Hour), Reason: unicode[0] + " spam", By: "admin"}, // in place of the other
		} {
			ok(t, a.Suspensions().Put(t.Context(), u.ID, want))
			got, err := a.Suspensions().Get(t.Context(), u.ID)
			ok(t, err)
			same(t, "suspension", got, want)
			byID, err := a.GetUser(t.Context(), u.ID)
			ok(t, err)
			byEmail, err := a.GetUserByEmail(t.Context(), u.Email)
			ok(t, err)
			byAccount, err := a.GetUserByAccount(t.Context(), "acme", "1")
			ok(t, err)
			for how, found := range map[string]storage.User{"id": byID, "e-mail address": byEmail, "account": byAccount} {
				if found.Suspension == nil {
					t.Fatalf("the user by %s has no suspension", how)
				}
				same(t, "suspension of the user by "+how, *found.Suspension, want)
			}
		}
		gone, err := a.Suspensions().Delete(t.Context(), u.ID)
		ok(t, err)
		if gone.By != "admin" {
			t.Errorf("the deleted suspension is by %q", gone.By)
		}
	}},
	{"what is not there is ErrNotFound", func(t *testing.T, a suspensionStore) {
		u := newUser(t, a, "ada@example.com")
		_, err := a.Suspensions().Get(t.Context(), u.ID)
		is(t, "Get", err, storage.ErrNotFound)
		_, err = a.Suspensions().Delete(t.Context(), u.ID)
		is(t, "Delete", err, storage.ErrNotFound)
		is(t, "Put for an unknown user", a.Suspensions().Put(t.Context(), "nobody", storage.Suspension{Since: instant}), storage.ErrNotFound)
	}},
	{"it goes with the user", func(t *testing.T, a suspensionStore) {
		able, can := a.(storage.UserDeletionAdapter)
		if !can {
			t.Log("the store deletes no users")
			return
		}
		u := newUser(t, a, "ada@example.com")
		ok(t, a.Suspensions().Put(t.Context(), u.ID, storage.Suspension{Since: instant}))
		_, err := able.DeleteUser(t.Context(), u.ID)
		ok(t, err)
		_, err = a.Suspensions().Get(t.Context(), u.ID)
		is(t, "Get", err, storage.ErrNotFound)
	}},
	{"it is part of a transaction", func(t *testing.T, a suspensionStore) {
		able, can := a.(storage.TxAdapter)
		if !can {
			t.Logf("the store has no transactions")
			return
		}
		u := newUser(t, a, "ada@example.com")
		is(t, "InTx", able.InTx(t.Context(), func(tx storage.Adapter) error {
			ok(t, tx.(storage.SuspensionAdapter).Suspensions().Put(t.Context(), u.ID, storage.Suspension{Since: instant}))
			_, err := tx.(storage.SuspensionAdapter).Suspensions().Get(t.Context(), u.ID)
			ok(t, err)
			return errRollback
		}), errRollback)
		_, err := a.Suspensions().Get(t.Context(), u.ID)
		is(t, "Get after a rollback", err, storage.ErrNotFound)
	}},
}

var activityPromises = []promise[activityStore]{
	{"the latest activities of a user come first", func(t *testing.T, a activityStore) {
		u, other := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := filled(func(v *storage.Activity) { v.UserID, v.Time = u.ID, instant })
		for i, id := range []string{"1", "2", "3"} {
			v := want
			v.ID, v.Time = id, instant.Add(time.Duration(i)*time.Minute)
			ok(t, a.Activities().Append(t.Context(), v))
		}
		ok(t, a.Activities().Append(t.Context(), storage.Activity{ID: "4", UserID: other.ID, Time: instant, Type: "sign_in"}))
		list, err := a.Activities().List(t.Context(), u.ID, 2)
		ok(t, err)
		if len(list) != 2 || list[0].ID != "3" || list[1].ID != "2" {
			t.Fatalf("%d activities, want the two latest", len(list))
		}
		want.ID, want.Time = "3", instant.Add(2*time.Minute)
		same(t, "activity", list[0], want)
		n, err := a.Activities().Prune(t.Context(), instant.Truncate(time.Millisecond).Add(time.Minute))
		ok(t, err)
		if n != 2 {
			t.Errorf("Prune removed %d, want 2", n)
		}
		if able, can := a.(storage.UserDeletionAdapter); can {
			_, err := able.DeleteUser(t.Context(), u.ID)
			ok(t, err)
			if list, err = a.Activities().List(t.Context(), u.ID, 10); err != nil || len(list) != 0 {
				t.Errorf("%d activities of a deleted user, %v", len(list), err)
			}
		}
	}},
}
