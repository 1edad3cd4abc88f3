package directory

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// confused is a store that answers every question with the whole audit log.
type confused struct{ *memoryadapter.Adapter }

func (c confused) Audit() storage.AuditStore { return confusedAudit{c.Adapter.Audit()} }

type confusedAudit struct{ storage.AuditStore }

func (c confusedAudit) List(ctx context.Context, q storage.AuditQuery) ([]storage.AuditRecord, error) {
	return c.AuditStore.List(ctx, storage.AuditQuery{Limit: q.Limit})
}

// audit records of another user or tenant are a fault of the store, and no answer.
func TestForeignAuditRecords(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	err := a.Audit().Append(t.Context(), []storage.AuditRecord{{ID: "1", Type: "sign_in", Outcome: "success", Time: time.Unix(1, 0), Tenant: "acme", UserID: "42"}})
	if err != nil {
		t.Fatal(err)
	}
	s := storeOf(confused{a})
	for _, q := range []storage.AuditQuery{{UserID: "43"}, {Tenant: "other"}, {Tenant: "acme", UserID: "43"}} {
		q.Limit = 10
		if list, err := ListAudit(t.Context(), s, q); len(list) != 0 || !errors.Is(err, fault.ErrAdapter) {
			t.Errorf("R-354 %+v: %+v, %v", q, list, err)
		}
	}
	if list, err := ListAudit(t.Context(), s, storage.AuditQuery{Tenant: "acme", UserID: "42", Limit: 10}); len(list) != 1 || err != nil {
		t.Errorf("R-354 the user's own: %+v, %v", list, err)
	}
}
