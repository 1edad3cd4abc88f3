package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/event"
)

// AllFields returns the fields of a line about an event, those that are empty included.
// It neither cuts nor escapes texts, and leaves the client's address whole. The names and
// types are those of docs/audit.schema.json.
func AllFields(e *event.Event) []slog.Attr {
	return []slog.Attr{
		slog.Int("schema", schema),
		slog.Time("at", e.Time.UTC()),
		slog.String("id", e.ID),
		slog.String("type", string(e.Type)),
		slog.String("outcome", string(e.Outcome)),
		slog.String("reason", string(e.Reason)),
		slog.String("detail", string(e.Detail)),
		slog.String("reference", e.Reference),
		slog.String("user", e.UserID),
		slog.String("name", e.Name),
		slog.String("session", e.SessionID),
		slog.String("by", string(e.By.Kind)),
		slog.String("by_id", e.By.ID),
		slog.String("provider", e.Provider),
		slog.String("provider_type", string(e.ProviderType)),
		slog.String("amr", strings.Join(e.AMR, " ")),
		slog.String("acr", e.ACR),
		slog.String("tenant", e.Tenant),
		slog.String("client", e.Client),
		slog.String("agent", e.UserAgent),
		slog.String("request", e.RequestID),
		slog.Int("count", e.Count),
		slog.Int("ended", e.Ended),
		slog.Bool("erased", e.Erased),
	}
}

// Fields returns the fields that AllFields returns for an event, except those that are
// empty. A zero time stays.
func Fields(e *event.Event) []slog.Attr {
	return slices.DeleteFunc(AllFields(e), func(a slog.Attr) bool {
		switch a.Value.Kind() {
		case slog.KindString:
			return a.Value.String() == ""
		case slog.KindInt64:
			return a.Value.Int64() == 0
		case slog.KindBool:
			return !a.Value.Bool()
		}
		return false
	})
}

// NameKey returns the key for NameHash: own, or a key that is derived from secret if own
// is empty.
func NameKey(own []byte, secret string) []byte {
	if len(own) > 0 {
		return own
	}
	return sum([]byte(secret), "latchkey audit name")
}

// NameHash returns a keyed hash of a name that was typed at a sign-in. It returns "" if
// name or key is empty. The same name of a tenant has the same hash, whether it is in
// upper or lower case. Users type passwords where a name belongs, so no log has the name
// itself.
func NameHash(key []byte, tenant, name string) string {
	if name = strings.ToLower(strings.TrimSpace(name)); name == "" || len(key) == 0 {
		return ""
	}
	return "name:" + hex.EncodeToString(sum(key, tenant+"\x00"+name)[:16])
}

// sum returns the HMAC-SHA-256 of text.
func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return mac.Sum(nil)
}
