package people

import (
	"encoding/json"
	"io"
	"reflect"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// exported says, for each record of a user, which of its fields an export has, and
// under which name. left has every other field with the reason.
var (
	exported = map[reflect.Type]map[string]string{
		reflect.TypeFor[storage.User](): {
			"ID": "id", "Name": "name", "Email": "email", "EmailVerified": "emailVerified", "Image": "image", "Extra": "extra",
			"Created": "created", "Provisioned": "provisioned",
		},
		reflect.TypeFor[storage.Account](): {
			"Provider": "provider", "ProviderAccountID": "providerAccountId", "Type": "type", "Extra": "extra", "Email": "email", "EmailVouched": "emailVouched",
		},
		reflect.TypeFor[storage.StoredSession](): {
			"ID": "id", "Expires": "expires", "Created": "created", "UserAgent": "userAgent", "Tenant": "tenant", "Provider": "provider",
			"Proved": "proved", "AMR": "amr", "ACR": "acr",
		},
		reflect.TypeFor[storage.Authenticator](): {
			"Name": "name", "AAGUID": "aaguid", "Created": "created", "Used": "used", "DeviceType": "deviceType", "BackedUp": "backedUp", "Transports": "transports",
		},
		reflect.TypeFor[storage.Factor]():       {"Kind": "kind", "Name": "name", "Created": "created", "Used": "used"},
		reflect.TypeFor[storage.Browser]():      {"Created": "created", "Seen": "seen", "Trusted": "trusted", "Expires": "expires", "UserAgent": "userAgent"},
		reflect.TypeFor[storage.PasswordHash](): {"Created": "created", "Changed": "changed"},
		reflect.TypeFor[storage.Challenge]():    {"Purpose": "purpose", "Tenant": "tenant", "Identifier": "address", "Created": "created", "Expires": "expires"},
		reflect.TypeFor[storage.Suspension]():   {"Since": "since", "Until": "until", "Reason": "reason"},
		reflect.TypeFor[storage.Activity]():     {"Time": "time", "Type": "type", "Provider": "provider", "UserAgent": "userAgent", "ActorKind": "actor"},
	}
	left = map[reflect.Type]map[string]string{
		reflect.TypeFor[storage.User](): {"Suspension": "it has a part of its own"},
		reflect.TypeFor[storage.Account](): {
			"ID": "a row's key, which says nothing", "UserID": "the user's", "Tokens": "secrets; the scope is exported",
		},
		reflect.TypeFor[storage.StoredSession](): {
			"Token": "a secret", "UserID": "the user's", "ProviderSID": "a hash", "ProviderSub": "a hash", "ProviderIssued": "of a token of the provider", "Sealed": "encrypted",
			"Actor": "an administrator's id", "ActorSession": "an administrator's",
		},
		reflect.TypeFor[storage.Authenticator](): {
			"CredentialID": "opens a ceremony", "UserID": "the user's", "ProviderAccountID": "the credential id", "PublicKey": "a key",
			"Counter": "of a protocol", "UserHandle": "a random name",
		},
		reflect.TypeFor[storage.Factor]():       {"ID": "a row's key", "UserID": "the user's", "Secret": "a secret", "Step": "of a protocol", "Failures": "of a protocol"},
		reflect.TypeFor[storage.Browser]():      {"ID": "a hash", "UserID": "the user's", "PublicID": "a row's key"},
		reflect.TypeFor[storage.PasswordHash](): {"UserID": "the user's", "Hash": "a secret", "Failures": "of a protocol", "Renew": "of a protocol"},
		reflect.TypeFor[storage.Challenge]():    {"ID": "a hash of a secret", "UserID": "the user's", "Data": "encrypted", "Tries": "of a protocol"},
		reflect.TypeFor[storage.Suspension]():   {"By": "an administrator's id"},
		reflect.TypeFor[storage.Activity]():     {"ID": "a row's key", "UserID": "the user's"},
	}
)

// Document is an export of a user: a JSON object that is written part by part. It is
// a whole object only after End.
type Document struct {
	w     io.Writer
	begun bool
	err   error
}

// exportVersion is the version of the form of exports.
const exportVersion = 1

// NewDocument returns a document that is written to w.
func NewDocument(w io.Writer) *Document { return &Document{w: w} }

// Part writes a part of the document with value as JSON. After an error it does nothing,
// and End returns the error.
func (d *Document) Part(name string, value any) {
	if !d.begun {
		d.begun = true
		d.write(`{"version":`)
		d.encode(exportVersion)
	}
	d.write(",")
	d.encode(name)
	d.write(":")
	d.encode(value)
}

// End completes the document, which must have a part, and returns the first error of all
// calls.
func (d *Document) End() error {
	d.write("}\n")
	return d.err
}

func (d *Document) write(text string) {
	if d.err == nil {
		_, d.err = io.WriteString(d.w, text)
	}
}

func (d *Document) encode(v any) {
	if d.err != nil {
		return
	}
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = d.w.Write(raw)
	}
	d.err = err
}

// Exported returns the fields that an export has of a record, by their names there, times
// as text of RFC 3339. Empty ones are left out. record is a value of a type in exported:
// a pointer, or any other type, yields an empty map.
func Exported[T any](record T) map[string]any {
	v := reflect.ValueOf(record)
	out := map[string]any{}
	for field, name := range exported[v.Type()] {
		f := v.FieldByName(field)
		if f.IsZero() {
			continue
		}
		out[name] = f.Interface()
		if at, is := f.Interface().(time.Time); is {
			out[name] = at.UTC().Format(time.RFC3339)
		}
	}
	if a, is := any(record).(storage.Account); is && a.Tokens.Scope != "" {
		out["scope"] = a.Tokens.Scope
	}
	return out
}

// ExportedAll does what Exported does, for a list. It never returns nil.
func ExportedAll[T any](records []T) []map[string]any {
	out := make([]map[string]any, 0, len(records))
	for _, r := range records {
		out = append(out, Exported(r))
	}
	return out
}
