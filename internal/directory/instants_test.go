package directory

import (
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// endsOf returns the ends that a process knows, in a store that others may share.
func endsOf(store storage.RevocationStore, now *time.Time) *Revocations {
	return NewRevocations(Revocations{
		Store: store, Keys: keys.New([]string{"a secret of the site"}, "", ""), Bounds: &guarded.Bounds{Timeout: 10 * time.Second},
		Life: time.Hour, EvidenceLife: time.Hour, Now: func() time.Time { return *now },
	})
}

// evidence that was issued before the sessions of its user ended opens none.
// Another process does not know which of the two clocks is ahead.
func TestEvidenceFromBeforeAnEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	store := memoryadapter.New(memoryadapter.Options{})
	here, elsewhere := endsOf(store, &now), endsOf(store, &now)
	ended, err := here.revokeUser(t.Context(), nil, "u")
	if err != nil || !ended.Equal(now.Add(jwtclaims.Tolerance)) {
		t.Fatalf("%v, %v", ended, err)
	}
	for name, c := range map[string]struct {
		by     *Revocations
		user   string
		issued time.Duration // after the end
		isOurs bool
		ok     bool
	}{
		"long before":                         {elsewhere, "u", -time.Hour, false, false},
		"at the same time":                    {elsewhere, "u", 0, true, false},
		"within the tolerance":                {elsewhere, "u", jwtclaims.Tolerance, true, false},
		"after it":                            {elsewhere, "u", jwtclaims.Tolerance + time.Millisecond, false, true},
		"of another user":                     {elsewhere, "v", -time.Hour, false, true},
		"at the same time, by one clock":      {here, "u", 0, true, false},
		"right after it, by one clock":        {here, "u", time.Millisecond, true, true},
		"right after it, by the other's word": {here, "u", time.Millisecond, false, false},
	} {
		signIn := &SignIn{User: storage.User{ID: c.user}}
		signIn.Issued, signIn.IssuedHere, signIn.Started = now.Add(c.issued), c.isOurs, now.Add(time.Minute)
		if err := c.by.Accept(t.Context(), nil, signIn); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrEnded) {
			t.Errorf("R-502 %s: %v", name, err)
		}
	}
	now = now.Add(-time.Minute) // a clock that was put back
	if again, err := elsewhere.revokeUser(t.Context(), nil, "u"); err != nil || !again.After(ended) {
		t.Errorf("R-502: a later end is on record with %v, and the one before with %v: %v", again, ended, err)
	}
}

// T-129: tokens whose code was sent before their account was disconnected are void.
func TestTokensFromBeforeADisconnect(t *testing.T) {
	now := time.Unix(1e9, 0)
	store := memoryadapter.New(memoryadapter.Options{})
	here, elsewhere, alone := endsOf(store, &now), endsOf(store, &now), endsOf(nil, &now)
	for _, r := range []*Revocations{here, alone} {
		if err := r.ForgetTokens(t.Context(), nil, "p", "1"); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		by      *Revocations
		id      string
		started time.Duration // after the disconnect
		void    bool
	}{
		"before":                                {here, "1", -time.Second, true},
		"before, elsewhere":                     {elsewhere, "1", -time.Second, true},
		"before, without a store":               {alone, "1", -time.Second, true},
		"right after":                           {here, "1", time.Millisecond, false},
		"right after, without a store":          {alone, "1", time.Millisecond, false},
		"within the tolerance, elsewhere":       {elsewhere, "1", time.Second, true},
		"after the tolerance, elsewhere":        {elsewhere, "1", jwtclaims.Tolerance + time.Second, false},
		"before, of another account":            {here, "2", -time.Second, false},
		"before, of another account, elsewhere": {elsewhere, "2", -time.Second, false},
	} {
		signIn := &SignIn{}
		signIn.Account = storage.Account{Provider: "p", ProviderAccountID: c.id}
		signIn.Started = now.Add(c.started)
		if void, err := c.by.voidsTokens(t.Context(), nil, signIn); void != c.void || err != nil {
			t.Errorf("T-129 %s: void: %t, %v", name, void, err)
		}
	}
}

// T-072: a logout at a provider voids what comes from an ID token that is not newer, and
// an older logout that arrives later gives nothing back.
func TestNamesEndedAtTheProvider(t *testing.T) {
	now, iat := time.Unix(1e9, 0), time.Unix(1e9-600, 0)
	for kind, store := range map[string]storage.RevocationStore{"a store": memoryadapter.New(memoryadapter.Options{}), "no store": nil} {
		r := endsOf(store, &now)
		for _, at := range []time.Time{iat, iat.Add(-time.Hour)} {
			if err := r.voidAtProvider(t.Context(), []string{"sid", "sub"}, at); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]struct {
			n    ProviderNames
			void bool
		}{
			"an older ID token":                {ProviderNames{SID: "sid", Issued: iat.Add(-time.Minute)}, true},
			"one of the same second":           {ProviderNames{SID: "sid", Issued: iat}, true},
			"a newer one of the same sid":      {ProviderNames{SID: "sid", Issued: iat.Add(time.Second)}, false},
			"an older one of the sub alone":    {ProviderNames{SID: "other", Sub: "sub", Issued: iat}, true},
			"an older one of another session":  {ProviderNames{SID: "other", Sub: "another", Issued: iat}, false},
			"one whose time is not known":      {ProviderNames{SID: "sid"}, true},
			"an older one of no name whatever": {ProviderNames{}, false},
		} {
			if void, err := r.isVoidAtProvider(t.Context(), nil, []ProviderNames{c.n}); void != c.void || err != nil {
				t.Errorf("T-072 %s, %s: void: %t, %v", kind, name, void, err)
			}
		}
	}
}

// T-068: a hint opens for the session and provider that it was sealed for.
func TestHintsOfSessions(t *testing.T) {
	now, secrets := time.Unix(1e9, 0), []string{"a secret of the site, long enough"}
	h, sent := NewHints(secrets, "tenant"), Hint{IDToken: "a.b.c", Login: "ada"}
	sealed, err := h.Seal(sent, "owner", "p", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.codec.SealClaims(jwt.Claims{"purpose": "other", "tenant": "tenant", "owner": "owner", "provider": "p", "id_token": "a.b.c"}, now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by                      *Hints
		sealed, owner, provider string
		after                   time.Duration
		ok                      bool
	}{
		"as it was sealed": {h, sealed, "owner", "p", 0, true},
		"another owner":    {h, sealed, "another", "p", 0, false},
		"another provider": {h, sealed, "owner", "q", 0, false},
		"another tenant":   {NewHints(secrets, "another"), sealed, "owner", "p", 0, false},
		"another purpose":  {h, other, "owner", "p", 0, false},
		"too late":         {h, sealed, "owner", "p", 2 * time.Hour, false},
	} {
		if got := c.by.Open(c.sealed, c.owner, c.provider, now.Add(c.after), time.Hour); (got == sent) != c.ok || !c.ok && got != (Hint{}) {
			t.Errorf("T-068 %s: %d bytes of an ID token", name, len(got.IDToken))
		}
	}
}
