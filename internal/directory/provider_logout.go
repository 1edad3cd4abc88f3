package directory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Logout that begins at an OpenID Provider. The provider names a session by its sid,
// or all sessions of a user by the sub. What a name stands for here is a hash that also
// names tenant, site, issuer and client. It is under no secret: sessions are
// found by it, and a stored one outlives the secret that it was opened under. The keys of
// revocations are made from it under each secret. The logout token's iat and the iat
// of the ID token behind a session are both by the provider's clock: sessions end whose
// ID token is not newer.

// Hint tells a provider whose session is to end there. The zero Hint is not kept.
type Hint struct {
	IDToken string `json:"id_token,omitempty"`
	Login   string `json:"login_hint,omitempty"` // the claim login_hint of the ID token
}

// Hints seals hints under a purpose of their own. It is safe for concurrent use.
type Hints struct {
	codec  *jwt.Codec
	tenant string
}

// NewHints returns the seals of a configuration. secrets has the secret in use first.
// tenant is empty if there is one site.
func NewHints(secrets []string, tenant string) *Hints {
	return &Hints{jwt.NewCodec(secrets, "latchkey logout hint"), tenant}
}

// Seal returns hint sealed so that it opens only for the same owner and provider, and not
// longer than life. owner is the id of a user or of a session. Seal returns "" for the
// zero Hint, and if h is nil.
func (h *Hints) Seal(hint Hint, owner, provider string, now time.Time, life time.Duration) (string, error) {
	if h == nil || hint == (Hint{}) {
		return "", nil
	}
	return h.codec.SealClaims(jwt.Claims{
		"purpose": "logout hint", "tenant": h.tenant, "owner": owner, "provider": provider, "id_token": hint.IDToken, "login_hint": hint.Login,
	}, now, life)
}

// Open returns a hint that Seal has sealed. It returns the zero Hint if the text was
// sealed for another owner or provider or does not open, if it is older than life, or if
// h is nil.
func (h *Hints) Open(sealed, owner, provider string, now time.Time, life time.Duration) Hint {
	if h == nil || sealed == "" {
		return Hint{}
	}
	claims, err := h.codec.OpenClaims(sealed, now, life)
	if err != nil || claims.String("purpose") != "logout hint" || claims.String("tenant") != h.tenant || claims.String("owner") != owner || claims.String("provider") != provider {
		return Hint{}
	}
	return Hint{claims.String("id_token"), claims.String("login_hint")}
}

// hintLife is how long a stored hint opens: as long as a session that is always in use.
const hintLife = 10 * 365 * 24 * time.Hour

// OpenHint returns the hint that a stored session keeps, or the zero Hint.
func (h *Hints) OpenHint(row *storage.StoredSession, now time.Time) Hint {
	sealed, _, _ := strings.Cut(row.Sealed, " ")
	return h.Open(sealed, row.UserID, row.Provider, now, hintLife)
}

// nameSession writes into the row of a new session what its providers call it. It does
// nothing if signIn.AtProvider is nil.
func nameSession(d *Directory, signIn *SignIn) error {
	at := signIn.AtProvider
	if at == nil {
		return nil
	}
	row := &signIn.Session
	hint, err := d.Hints.Seal(at.Hint, row.UserID, row.Provider, d.Now(), hintLife)
	at.keepNames(row, hint)
	return err
}

// ProviderEnd is a logout at a provider.
type ProviderEnd struct {
	Provider  string
	AccountID string    // of the user there; empty: the logout token names no sub
	SID       string    // of ProviderName; empty: all sessions of the sub end
	Sub       string    // of ProviderName
	Issued    time.Time // the iat of the logout token
}

// names returns the name by which the sessions to end are found: e.SID in sids, or else
// e.Sub in subs.
func (e *ProviderEnd) names() (sids, subs []string) {
	switch {
	case e.SID != "":
		return []string{e.SID}, nil
	case e.Sub != "":
		return nil, []string{e.Sub}
	}
	return nil, nil
}

// errUnnamed reports that sessions cannot be found by the sid of a provider.
var errUnnamed = errors.New("the logout token names no sub, and what keeps the sessions has no place for the sid: run latchkey migrate, or have the provider send the sub")

// EndAtProvider voids the names of a logout and deletes the stored sessions that bear them. If
// the store does not keep names, it ends sessions of the user with the account. It returns the
// sessions that it ended, also beside an error, and adds the event SessionEnded once for each
// of their users. d is nil on a site without an adapter. A nil r voids nothing.
func EndAtProvider(ctx context.Context, d *Directory, r *Revocations, q *Outbox, e ProviderEnd) (ended []storage.StoredSession, err error) {
	sids, subs := e.names()
	if err := r.voidAtProvider(ctx, append(sids, subs...), e.Issued); err != nil {
		return nil, err
	}
	if d == nil || !d.StoredSessions {
		return nil, nil
	}
	ended, err = deleteProviderSessions(ctx, d.Store, &e)
	if errors.Is(err, errors.ErrUnsupported) {
		var more []storage.StoredSession
		more, err = endOfAccount(ctx, d, q, r, &e)
		ended = append(ended, more...)
	}
	seen := map[string]bool{}
	for _, row := range ended {
		if !seen[row.UserID] {
			seen[row.UserID] = true
			q.Add(event.Event{Type: event.SessionEnded, UserID: row.UserID, SessionID: row.ID, Provider: e.Provider}, sessionEnd(q, row))
		}
	}
	return ended, err
}

// sessionEnd returns the payload for the end of a session, or nil if no callback listens.
func sessionEnd(q *Outbox, row storage.StoredSession) any {
	if !q.Wants(event.SessionEnded) {
		return nil
	}
	return event.SignOutPayload{Session: &row}
}

// endOfAccount ends the sessions of the user that has the account e.AccountID, except
// those that are known to be newer than the logout, and returns the ones that it ended.
// It is for a store that does not keep what the provider calls a session. It ends none if
// no user has the account, and returns errUnnamed if e names no account. A row need not say
// when its session began. So a logout token that is not newer than the last one of the account
// ends nothing.
func endOfAccount(ctx context.Context, d *Directory, q *Outbox, r *Revocations, e *ProviderEnd) (ended []storage.StoredSession, err error) {
	if e.AccountID == "" {
		return nil, errUnnamed
	}
	mark := ProviderNames{Sub: "all sessions of " + e.Sub, Issued: e.Issued}
	if done, err := r.isVoidAtProvider(ctx, nil, []ProviderNames{mark}); done || err != nil {
		return nil, err
	}
	u, err := guarded.Optional(d.Store.UserByAccount(ctx, e.Provider, e.AccountID))
	if u == nil || err != nil {
		return nil, err
	}
	rows, err := d.Store.ListSessions(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if ended, err = endUntil(ctx, d, q, u.ID, rows, e); err != nil {
		return ended, err
	}
	return ended, r.voidAtProvider(ctx, mark.all(), e.Issued)
}

// endUntil ends those of rows, the sessions of a user, that are not known to be newer
// than a logout. It returns those that it ended, also beside an error. If no session is
// newer, or an older one has no id, it ends all sessions of the user at once, and then
// returns all rows, or none beside an error.
func endUntil(ctx context.Context, d *Directory, q *Outbox, userID string, rows []storage.StoredSession, e *ProviderEnd) (ended []storage.StoredSession, err error) {
	older := slices.DeleteFunc(slices.Clone(rows), func(row storage.StoredSession) bool { return e.isBefore(&row) })
	if len(older) == len(rows) || slices.ContainsFunc(older, func(row storage.StoredSession) bool { return row.ID == "" }) {
		if err := q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error { return endSessions(ctx, d, q, s, userID, "") }); err != nil {
			return nil, err
		}
		return rows, nil
	}
	for _, row := range older {
		failed := d.Store.deleteSessionByID(ctx, userID, row.ID)
		if failed == nil {
			ended = append(ended, row)
		}
		err = errors.Join(err, failure.Ignoring(failed, storage.ErrNotFound))
	}
	return ended, err
}

// isBefore reports whether the logout is known to be before the beginning of a session:
// by the session's ID token if that is of the same provider, and else by our clock.
func (e *ProviderEnd) isBefore(row *storage.StoredSession) bool {
	if row.Provider == e.Provider && !row.ProviderIssued.IsZero() {
		return row.ProviderIssued.After(e.Issued)
	}
	return row.Created.After(e.Issued.Add(jwtclaims.Tolerance))
}

// ProviderLogouts returns the stores of sessions that can end sessions by what a provider
// calls them. whole is false if one of the stores of sessions cannot.
func ProviderLogouts(s *Store) (all []storage.ProviderLogoutAdapter, whole bool) {
	var stores []any
	if s.Apart != nil {
		stores = append(stores, s.Apart.Store)
	}
	if s.Apart == nil || s.Apart.InAdapter {
		stores = append(stores, s.adapter)
	}
	for _, in := range stores {
		if able, ok := in.(storage.ProviderLogoutAdapter); ok {
			all = append(all, able)
		}
	}
	return all, len(all) == len(stores)
}

// NamesSessions reports whether every store of sessions has columns for what a provider calls
// them. It asks each for no session. A store that fails otherwise counts as having them.
func NamesSessions(ctx context.Context, s *Store) bool {
	all, whole := ProviderLogouts(s)
	return whole && !slices.ContainsFunc(all, func(in storage.ProviderLogoutAdapter) bool {
		_, err := guarded.Call(ctx, s.bounds, "DeleteProviderSessions", func(ctx context.Context) ([]storage.StoredSession, error) {
			return in.DeleteProviderSessions(ctx, nil, nil, time.Time{})
		})
		return errors.Is(err, errors.ErrUnsupported)
	})
}

// deleteProviderSessions deletes the sessions with the names of e in every store, and
// returns them, also beside an error.
func deleteProviderSessions(ctx context.Context, s *Store, e *ProviderEnd) (ended []storage.StoredSession, err error) {
	all, _ := ProviderLogouts(s)
	sids, subs := e.names()
	var lacks error
	for _, in := range all {
		gone, failed := guarded.Call(ctx, s.bounds, "DeleteProviderSessions", func(ctx context.Context) ([]storage.StoredSession, error) {
			return in.DeleteProviderSessions(ctx, sids, subs, e.Issued)
		})
		ended = append(ended, gone...)
		if errors.Is(failed, errors.ErrUnsupported) {
			lacks, failed = failed, nil
		}
		err = errors.Join(err, failed)
	}
	for _, row := range ended {
		s.SessionCache.dropUser(row.UserID)
	}
	return ended, cmp.Or(err, lacks)
}

// voidAtProvider voids everything that bears one of the names and comes from an ID token
// that was issued at or before at.
func (r *Revocations) voidAtProvider(ctx context.Context, names []string, at time.Time) error {
	if r == nil {
		return nil
	}
	defer r.SessionCache.dropTokens()()
	now := wholeMillisecond(r.Now())
	if r.Store != nil {
		last := now
		if at.After(now) {
			last = at
		}
		return r.void(ctx, nil, r.keysThere(names), at, last.Add(max(r.Life, r.EvidenceLife, r.RowLife)))
	}
	for _, name := range names {
		own, known := r.own.Get(name)
		if known && !at.After(own.void) {
			continue
		}
		r.own.Delete(name)
		r.own.GetOrAdd(name, ownEnd{void: at, done: now})
	}
	return nil
}

// isVoidAtProvider reports whether a provider has ended a session with any of the names,
// by a logout that is not older than the ID token of that name. s is the store of the
// transaction that this is part of; nil: none. A nil r returns false.
func (r *Revocations) isVoidAtProvider(ctx context.Context, s *Store, named []ProviderNames) (bool, error) {
	if r == nil || len(named) == 0 {
		return false, nil
	}
	if r.Store == nil {
		return slices.ContainsFunc(named, func(n ProviderNames) bool {
			return slices.ContainsFunc(n.all(), func(name string) bool {
				own, known := r.own.Get(name)
				return known && !n.Issued.After(own.void)
			})
		}), nil
	}
	issued := r.issuedThere(named)
	found, err := r.revokedAt(ctx, s, slices.Collect(maps.Keys(issued)))
	for key, void := range found {
		if !issued[key].After(void) {
			return true, failure.Ignoring(err, errors.ErrUnsupported)
		}
	}
	return false, failure.Ignoring(err, errors.ErrUnsupported)
}

// CheckFormer returns ErrNoToken if a provider has ended a session that the stored
// session row has taken the place of. A logout finds row by its own names, but not by
// those of former sessions. s is the store of the transaction that this is part of; nil:
// none.
func (r *Revocations) CheckFormer(ctx context.Context, s *Store, row *storage.StoredSession) error {
	former := formerIn(row.Sealed)
	if len(former) == 0 {
		return nil
	}
	void, err := r.isVoidAtProvider(ctx, s, former)
	if err == nil && void {
		err = ErrNoToken
	}
	return err
}

// AcceptAtProvider returns an error that is ErrEnded if the provider of a sign-in has
// ended the session of its ID token meanwhile. In that case, and if it cannot find out,
// it deletes the stored session signIn.Session. The caller calls it after that session
// was committed: a logout records its instant first and looks for sessions afterwards, so
// that one of the two sees the other. s may be nil if no session is stored.
func AcceptAtProvider(ctx context.Context, s *Store, r *Revocations, signIn *SignIn) error {
	void, err := r.isVoidAtProvider(ctx, nil, signIn.AtProvider.All())
	if err == nil && !void {
		return nil
	}
	if err == nil {
		err = signIn.ended()
	}
	if s != nil && signIn.Session.Token != "" {
		err = errors.Join(err, undoSession(context.WithoutCancel(ctx), s, signIn))
	}
	return err
}
