package audit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/storage"
)

// longestKey is how many bytes of an id or an address are kept. The columns hold 255.
const longestKey = 240

// recordData is what a record has in Data.
type recordData struct {
	Schema       int    `json:"schema"`
	Reason       string `json:"reason,omitempty"`
	Detail       string `json:"detail,omitempty"`
	Reference    string `json:"reference,omitempty"`
	By           string `json:"by,omitempty"`
	ByID         string `json:"by_id,omitempty"` // of an administrator or operator, which is kept as long as the record
	Provider     string `json:"provider,omitempty"`
	ProviderType string `json:"provider_type,omitempty"`
	Request      string `json:"request,omitempty"`
	Count        int    `json:"count,omitempty"`
	Ended        int    `json:"ended,omitempty"`
	AMR          string `json:"amr,omitempty"` // separated by spaces
	ACR          string `json:"acr,omitempty"`
}

// recordPersonal is what a record has in Personal.
type recordPersonal struct {
	ByID  string `json:"by_id,omitempty"` // of a user
	Name  string `json:"name,omitempty"`  // a hash
	Agent string `json:"agent,omitempty"`
}

// Key returns an id or an address as the columns of records have it: printable, and cut to
// what they hold, also if escapes have made it longer.
func Key(text string) string {
	key := redact.Printable(text, longestKey)
	if cut := longestKey + len("…"); len(key) > cut {
		key = strings.ToValidUTF8(key[:longestKey], "") + "…"
	}
	return key
}

// RecordOf returns the record of an event, with as much of the client's address as detail
// says. Texts are made printable and cut to what the columns hold. It does not make an
// ID: the caller sets one first. The record does not hold e.Err.
func RecordOf(e *event.Event, detail Address) storage.AuditRecord {
	short := func(text string) string { return redact.Printable(text, longestText) }
	data := recordData{
		Schema: schema, Reason: short(string(e.Reason)), Detail: short(string(e.Detail)), Reference: short(e.Reference), By: string(e.By.Kind),
		Provider: short(e.Provider), ProviderType: string(e.ProviderType), Request: short(e.RequestID), Count: e.Count, Ended: e.Ended,
		AMR: short(strings.Join(e.AMR, " ")), ACR: short(e.ACR),
	}
	personal := recordPersonal{Agent: short(e.UserAgent), Name: short(e.Name)}
	if e.By.Kind == event.ActorAdmin && e.By.ID != e.UserID || e.By.Kind == event.ActorSystem {
		data.ByID = Key(e.By.ID)
	} else {
		personal.ByID = Key(e.By.ID)
	}
	r := storage.AuditRecord{
		ID: e.ID, Type: Key(string(e.Type)), Outcome: string(e.Outcome), Time: e.Time.UTC().Truncate(time.Millisecond),
		Tenant: Key(e.Tenant), UserID: Key(e.UserID), SessionID: Key(e.SessionID), Client: Key(addressOf(e.Client, detail)),
	}
	r.Data, _ = json.Marshal(data) // they have texts and numbers
	r.Personal, _ = json.Marshal(personal)
	return r
}

// EventOf returns the event of a record, as RecordOf left it: texts stay cut, and Err is
// nil. Erased is set if the record has no Personal. What cannot be read of a record that
// another program has written is empty.
func EventOf(r *storage.AuditRecord) event.Event {
	var data recordData
	var personal recordPersonal
	_ = json.Unmarshal(r.Data, &data)
	_ = json.Unmarshal(r.Personal, &personal)
	e := event.Event{
		ID: r.ID, Type: event.Type(r.Type), Outcome: event.Outcome(r.Outcome), Time: r.Time,
		Tenant: r.Tenant, UserID: r.UserID, SessionID: r.SessionID, Client: r.Client, UserAgent: personal.Agent, Erased: r.Personal == nil,
		Reason: fault.ErrorType(data.Reason), Detail: fault.Detail(data.Detail), Reference: data.Reference,
		Provider: data.Provider, ProviderType: storage.ProviderType(data.ProviderType), RequestID: data.Request, Count: data.Count, Ended: data.Ended,
		AMR: strings.Fields(data.AMR), ACR: data.ACR, Name: personal.Name,
		By: event.Actor{Kind: event.ActorKind(data.By), ID: data.ByID},
	}
	if e.By.ID == "" {
		e.By.ID = personal.ByID
	}
	if len(e.AMR) == 0 {
		e.AMR = nil
	}
	return e
}
