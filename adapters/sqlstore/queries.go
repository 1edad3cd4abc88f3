package sqlstore

import "strings"

// queries has every statement of a store, written once for its layout.
type queries struct {
	insertUser, insertAccount, insertSession, insertToken, insertAuthenticator insert

	userByID, userByEmail, userByAccount, updateUser, deleteUser          string
	account, accountsOf, deleteAccount, deleteAccountsOf                  string
	sessionAndUser, sessionKnown, hashToken, renewSession, sessionExpiry  string
	session, deleteSession, sessionsOf, deleteSessionByID, deleteSessions string
	deleteSessionsBut, token, deleteToken                                 string
	authenticator, authenticatorsOf, raiseCounter                         string
	deleteAuthenticator, deleteAuthenticatorsOf                           string
	revoke                                                                string

	sweep []string
}

func (l grammar) queries() *queries {
	q := &queries{
		insertUser:          l.insert("users"),
		insertAccount:       l.insert("accounts"),
		insertSession:       l.insert("sessions"),
		insertToken:         l.insert("verification_token"),
		insertAuthenticator: l.insert("authenticators"),

		userByID:    l.sql(`SELECT {users.*} FROM {users} WHERE {users.id} = ?`),
		userByEmail: l.sql(`SELECT {users.*} FROM {users} WHERE {users.email} = ? LIMIT 1`),
		userByAccount: l.sql(`SELECT {u.users.*} FROM {accounts} a JOIN {users} u ON u.{users.id} = a.{accounts.userId}
			WHERE a.{accounts.provider} = ? AND a.{accounts.providerAccountId} = ? LIMIT 1`),
		updateUser: l.sql(`UPDATE {users} SET {users.name} = CASE WHEN ? THEN ? ELSE {users.name} END,
			{users.email} = CASE WHEN ? THEN ? ELSE {users.email} END,
			{users.emailVerified} = CASE WHEN ? THEN ? ELSE {users.emailVerified} END,
			{users.image} = CASE WHEN ? THEN ? ELSE {users.image} END WHERE {users.id} = ?`),
		deleteUser: l.sql(`DELETE FROM {users} WHERE {users.id} = ?`),

		account:          l.sql(`SELECT {accounts.*} FROM {accounts} WHERE {accounts.provider} = ? AND {accounts.providerAccountId} = ? LIMIT 1`),
		accountsOf:       l.sql(`SELECT {accounts.*} FROM {accounts} WHERE {accounts.userId} = ? ORDER BY {accounts.provider}, {accounts.providerAccountId}`),
		deleteAccount:    l.sql(`DELETE FROM {accounts} WHERE {accounts.provider} = ? AND {accounts.providerAccountId} = ?`),
		deleteAccountsOf: l.sql(`DELETE FROM {accounts} WHERE {accounts.userId} = ?`),

		sessionAndUser: l.sql(`SELECT {s.sessions.*}, {u.users.*} FROM {sessions} s JOIN {users} u ON u.{users.id} = s.{sessions.userId}
			WHERE s.{sessions.sessionToken} = ?`),
		sessionKnown:      l.sql(`SELECT {sessions.expires} FROM {sessions} WHERE {sessions.sessionToken} IN (?, ?) LIMIT 1`),
		hashToken:         l.sql(`UPDATE {sessions} SET {sessions.sessionToken} = ? WHERE {sessions.sessionToken} = ?`),
		renewSession:      l.sql(`UPDATE {sessions} SET {sessions.expires} = ? WHERE {sessions.sessionToken} = ? AND {sessions.expires} < ?`),
		sessionExpiry:     l.sql(`SELECT {sessions.expires} FROM {sessions} WHERE {sessions.sessionToken} = ?`),
		session:           l.sql(`SELECT {sessions.*} FROM {sessions} WHERE {sessions.sessionToken} = ?`),
		deleteSession:     l.sql(`DELETE FROM {sessions} WHERE {sessions.sessionToken} = ?`),
		sessionsOf:        l.sql(`SELECT {sessions.*} FROM {sessions} WHERE {sessions.userId} = ? ORDER BY {sessions.expires} DESC`),
		deleteSessions:    l.sql(`DELETE FROM {sessions} WHERE {sessions.userId} = ?`),
		deleteSessionByID: l.sql(`DELETE FROM {sessions} WHERE {sessions.userId} = ? AND {sessions.id} = ?`),
		deleteSessionsBut: l.sql(`DELETE FROM {sessions} WHERE {sessions.userId} = ? AND {sessions.id} <> ?`),

		token: l.sql(`SELECT {verification_token.*} FROM {verification_token}
			WHERE {verification_token.identifier} = ? AND {verification_token.token} = ?`),
		deleteToken: l.sql(`DELETE FROM {verification_token} WHERE {verification_token.identifier} = ? AND {verification_token.token} = ?`),

		authenticator:    l.sql(`SELECT {authenticators.*} FROM {authenticators} WHERE {authenticators.credentialID} = ?`),
		authenticatorsOf: l.sql(`SELECT {authenticators.*} FROM {authenticators} WHERE {authenticators.userId} = ? ORDER BY {authenticators.credentialID}`),
		raiseCounter: l.sql(`UPDATE {authenticators} SET {authenticators.counter} = ?
			WHERE {authenticators.credentialID} = ? AND {authenticators.counter} < ?`),
		deleteAuthenticator:    l.sql(`DELETE FROM {authenticators} WHERE {authenticators.credentialID} = ?`),
		deleteAuthenticatorsOf: l.sql(`DELETE FROM {authenticators} WHERE {authenticators.userId} = ?`),

		revoke: l.revoke(),
	}
	for _, table := range []string{"sessions", "verification_token", "revocations"} {
		if l.has(table) {
			q.sweep = append(q.sweep, l.sql(`DELETE FROM {`+table+`} WHERE {`+table+`.expires} < ?`))
		}
	}
	return q
}

// revoke keeps the later of what is there and what is new.
func (l grammar) revoke() string {
	const values = `INSERT INTO {revocations} ({revocations.key}, {revocations.at}, {revocations.expires}) VALUES (?, ?, ?) `
	later := `{revocations.at} = GREATEST({revocations}.{revocations.at}, EXCLUDED.{revocations.at}),
		{revocations.expires} = GREATEST({revocations}.{revocations.expires}, EXCLUDED.{revocations.expires})`
	switch l.dialect {
	case MySQL:
		return l.sql(values + `ON DUPLICATE KEY UPDATE {revocations.at} = GREATEST({revocations.at}, VALUES({revocations.at})),
			{revocations.expires} = GREATEST({revocations.expires}, VALUES({revocations.expires}))`)
	case SQLite:
		later = strings.ReplaceAll(later, "GREATEST", "MAX")
	}
	return l.sql(values + `ON CONFLICT ({revocations.key}) DO UPDATE SET ` + later)
}

// revokedAt asks for n keys.
func (l grammar) revokedAt(n int) string {
	return l.sql(`SELECT {revocations.key}, {revocations.at} FROM {revocations} WHERE {revocations.key} IN (?` + strings.Repeat(", ?", n-1) + `)`)
}
