package admin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// The JSON of the pages. Times are RFC 3339, and null is unknown.

// userJSON returns a user as the JSON has it.
func userJSON(u *latchkey.User) map[string]any {
	out := map[string]any{
		"id": u.ID, "name": orNull(u.Name), "email": orNull(u.Email), "image": orNull(u.Image),
		"emailVerified": timeOf(u.EmailVerified), "created": timeOf(u.Created), "provisioned": !u.Provisioned.IsZero(), "suspension": nil,
	}
	if s := u.Suspension; s != nil {
		out["suspension"] = map[string]any{"since": timeOf(s.Since), "until": timeOf(s.Until), "reason": s.Reason, "by": orNull(s.By)}
	}
	return out
}

// orNull returns text, or nil (null in JSON) if it is empty.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// timeOf returns t as RFC 3339 in UTC, or nil (null in JSON) if it is zero.
func timeOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// personJSON returns everything of a person as the JSON has it.
func personJSON(p *person) map[string]any {
	out := map[string]any{"user": userJSON(&p.user), "staff": p.staff, "actions": p.actions}
	out["accounts"] = each(p.accounts, func(a storage.Account) any {
		return map[string]any{"provider": a.Provider, "account": a.ProviderAccountID, "type": a.Type, "email": orNull(a.Email)}
	})
	out["passkeys"] = each(p.passkeys, func(k storage.Authenticator) any {
		return map[string]any{"passkey": passkeyID(&k), "name": orNull(k.Name), "created": timeOf(k.Created), "used": timeOf(k.Used)}
	})
	out["factors"] = each(p.factors, func(f storage.Factor) any {
		return map[string]any{"kind": f.Kind, "name": orNull(f.Name), "created": timeOf(f.Created), "used": timeOf(f.Used)}
	})
	out["sessions"] = each(p.sessions, func(s storage.StoredSession) any {
		return map[string]any{"session": s.ID, "userAgent": orNull(s.UserAgent), "created": timeOf(s.Created), "expires": timeOf(s.Expires), "provider": orNull(s.Provider)}
	})
	out["activity"] = each(p.activity, func(a users.Activity) any {
		return map[string]any{
			"time": timeOf(a.Time), "type": a.Type, "outcome": a.Outcome, "provider": orNull(a.Provider),
			"browser": orNull(a.Browser), "system": orNull(a.System), "actor": orNull(string(a.Actor)),
		}
	})
	return out
}

// each returns of(v) for every v. For an empty list it returns a list, which is [] and
// not null in JSON.
func each[T any](list []T, of func(T) any) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, of(v))
	}
	return out
}

// passkeyID returns the credential id of a passkey as forms and JSON have it: base64url
// without padding.
func passkeyID(k *storage.Authenticator) string {
	return base64.RawURLEncoding.EncodeToString(k.CredentialID)
}

// writeJSON returns a response with the status and v as JSON. If v cannot be JSON the
// status is 500.
func writeJSON(status int, v any) *latchkey.Response {
	body, err := json.Marshal(v)
	if err != nil { // does not happen: callers give texts, truth values, and maps and lists of them
		status, body = http.StatusInternalServerError, []byte(`{"error":"Configuration"}`)
	}
	return &latchkey.Response{Status: status, Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "X-Content-Type-Options": {"nosniff"}, "Vary": {"Cookie, Authorization"},
	}}
}

// failJSON returns a response of JSON for something that failed. It leaves out an empty
// field and an empty message.
func failJSON(status int, code, field, message string) *latchkey.Response {
	return writeJSON(status, struct {
		Error   string `json:"error"`
		Field   string `json:"field,omitempty"`
		Message string `json:"message,omitempty"`
	}{code, field, message})
}

// failed answers an error as [latchkey.Core.ErrorResponse] does. If the answer has to be
// JSON and is no redirect, the body is a JSON object in place of a page.
func (c *call) failed(ctx context.Context, err error) *latchkey.Response {
	res := c.core.ErrorResponse(ctx, c.r, err)
	if !c.json || res.Redirect != "" {
		return res
	}
	object := failJSON(res.Status, strings.ReplaceAll(http.StatusText(res.Status), " ", ""), "", "")
	for name, values := range res.Header {
		if _, has := object.Header[name]; !has && name != "Content-Length" {
			object.Header[name] = values
		}
	}
	return withCookies(object, res.Cookies)
}

// lowered returns the name of a field with a small first letter, as forms and JSON have
// it.
func lowered(field string) string {
	if field == "" {
		return ""
	}
	return strings.ToLower(field[:1]) + field[1:]
}
