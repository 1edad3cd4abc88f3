package sqlstore

import (
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// queries has every statement of a store, written once for its layout.
type queries struct {
	insertUser, insertAccount, insertSession, insertToken, insertAuthenticator insert

	userByID, plainUser, holdUser, userByEmail, userByAccount, updateUser, deleteUser string
	account, accountsOf, accountsFrom, deleteAccount, deleteAccountsOf                string
	sessionAndUser, sessionKnown, hashToken, renewSession, sessionExpiry              string
	session, deleteSession, sessionsOf, deleteSessionByID, deleteSessions             string
	deleteSessionsBut, token, deleteToken                                             string
	authenticator, authenticatorsOf, raiseCounter                                     string
	deleteAuthenticator, deleteAuthenticatorsOf                                       string
	revoke                                                                            string
	take                                                                              []string
	wait, settle, giveBack, forget                                                    string
	use                                                                               []string
	mark                                                                              string
	insertSuspension, suspension, deleteSuspension                                    string
	insertActivity, activitiesOf, pruneActivities                                     string

	swapTokens                                        string
	lease, addLease, extendLease, takeLease, endLease string

	sweep []sweep

	proofs proofQueries
	audit  auditQueries

	present map[string][]bool // of each table, which columns of a row are read
	forms   map[string]*form  // of each table
}

// queries returns the statements of a layout. It is called once for a store. The result
// is shared, and nothing changes it.
func (l grammar) queries() *queries {
	q := &queries{
		insertUser:          l.insert("users"),
		insertAccount:       l.insert("accounts"),
		insertSession:       l.insert("sessions"),
		insertToken:         l.insert("verification_token"),
		insertAuthenticator: l.insert("authenticators"),
		revoke:              l.upsertRevocation(),
	}
	q.aboutUsers(l)
	q.aboutAccounts(l)
	q.aboutSessions(l)
	q.aboutTokens(l)
	q.aboutLimits(l)
	q.aboutSwaps(l)
	q.aboutLeases(l)
	q.aboutSuspensions(l)
	q.proofs, q.audit = l.proofQueries(), l.auditQueries()
	q.present, q.forms = map[string][]bool{}, map[string]*form{}
	for _, table := range model.Tables {
		q.present[table.Name], q.forms[table.Name] = l.present(table.Name), new(l.formOf(table.Name))
	}
	for _, expiry := range []string{
		"sessions.expires", "verification_token.expires", "revocations.expires", "used_values.expires", "limits.full_at",
		"challenges.expires", "browsers.expires", "leases.until",
	} {
		if table, _, _ := strings.Cut(expiry, "."); l.has(table) {
			q.sweep = append(q.sweep, l.sweep(table, expiry))
		}
	}
	return q
}

// aboutUsers sets the fields of q with statements for users.
func (q *queries) aboutUsers(l grammar) {
	person := `SELECT ` + l.person("u") + ` FROM {users} u` + l.joinSuspension("u")
	q.userByID = l.sql(person + ` WHERE u.{users.id} = ?`)
	q.plainUser = l.sql(`SELECT {users.*} FROM {users} WHERE {users.id} = ?`)
	q.holdUser = q.plainUser
	if l.dialect != SQLite { // where a transaction is the only writer
		q.holdUser += " FOR UPDATE"
	}
	q.userByEmail = l.sql(person + ` WHERE u.{users.email} = ? LIMIT 1`)
	q.userByAccount = l.sql(`SELECT ` + l.person("u") + ` FROM {accounts} a JOIN {users} u ON u.{users.id} = a.{accounts.userId}` + l.joinSuspension("u") + `
		WHERE a.{accounts.provider} = ? AND a.{accounts.providerAccountId} = ? LIMIT 1`)
	q.updateUser = l.sql(l.update("users") + `{users.name} = CASE WHEN ? THEN ? ELSE {users.name} END,
		{users.email} = CASE WHEN ? THEN ? ELSE {users.email} END,
		{users.emailVerified} = CASE WHEN ? THEN ? ELSE {users.emailVerified} END,
		{users.image} = CASE WHEN ? THEN ? ELSE {users.image} END` + l.changeIf("users.name_key") + l.changeIf("users.provisioned") + ` WHERE {users.id} = ?`)
	q.deleteUser = l.sql(`DELETE FROM {users} WHERE {users.id} = ?`)
}

// changeIf returns the part of an update, with a comma in front, that changes a column if
// its first argument is true. Its second argument is the new value. changeIf returns ""
// if the layout lacks the column.
func (l grammar) changeIf(column string) string {
	if !l.has(column) {
		return ""
	}
	return `, {` + column + `} = CASE WHEN ? THEN ? ELSE {` + column + `} END`
}

// person returns the part of a statement for sql that selects the columns of a user, and
// of the suspension if the layout has suspensions. alias is the alias of the table of
// users. The statement needs the join of joinSuspension. intoPerson has the destinations.
func (l grammar) person(alias string) string {
	columns := `{` + alias + `.users.*}`
	if l.has("suspensions") {
		columns += `, z.{suspensions.since}, z.{suspensions.until}, COALESCE(z.{suspensions.reason}, ''), COALESCE(z.{suspensions.actor}, '')`
	}
	return columns
}

// joinSuspension returns the join that person needs, or "" if the layout has no
// suspensions. alias is the alias of the table of users.
func (l grammar) joinSuspension(alias string) string {
	if !l.has("suspensions") {
		return ""
	}
	return ` LEFT JOIN {suspensions} z ON z.{suspensions.user_id} = ` + alias + `.{users.id}`
}

// aboutSuspensions sets the fields of q with statements for suspensions and activities.
func (q *queries) aboutSuspensions(l grammar) {
	const columns = `{suspensions.since}, {suspensions.until}, COALESCE({suspensions.reason}, ''), COALESCE({suspensions.actor}, '')`
	q.insertSuspension = l.sql(`INSERT INTO {suspensions} ({suspensions.user_id}, {suspensions.since}, {suspensions.until},
		{suspensions.reason}, {suspensions.actor}) VALUES (?, ?, ?, ?, ?)`)
	q.suspension = l.sql(`SELECT ` + columns + ` FROM {suspensions} WHERE {suspensions.user_id} = ?`)
	q.deleteSuspension = l.sql(`DELETE FROM {suspensions} WHERE {suspensions.user_id} = ?`)
	q.insertActivity = l.sql(`INSERT INTO {activities} ({activities.id}, {activities.user_id}, {activities.time}, {activities.type},
		{activities.provider}, {activities.user_agent}, {activities.actor_kind}) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	q.activitiesOf = l.sql(`SELECT {activities.id}, {activities.time}, {activities.type}, COALESCE({activities.provider}, ''),
		COALESCE({activities.user_agent}, ''), COALESCE({activities.actor_kind}, '') FROM {activities} WHERE {activities.user_id} = ?
		ORDER BY {activities.time} DESC, {activities.id} DESC LIMIT ?`)
	q.pruneActivities = l.sql(`DELETE FROM {activities} WHERE {activities.time} < ?`)
}

// aboutAccounts sets the fields of q with statements for accounts.
func (q *queries) aboutAccounts(l grammar) {
	const key = ` WHERE {accounts.provider} = ? AND {accounts.providerAccountId} = ?`
	q.account = l.sql(`SELECT {accounts.*} FROM {accounts}` + key + ` LIMIT 1`)
	q.accountsOf = l.sql(`SELECT {accounts.*} FROM {accounts} WHERE {accounts.userId} = ?
		ORDER BY {accounts.provider}, {accounts.providerAccountId}`)
	q.accountsFrom = l.sql(`SELECT {accounts.*} FROM {accounts} WHERE {accounts.provider} > ?
		OR ({accounts.provider} = ? AND {accounts.providerAccountId} >= ?)
		ORDER BY {accounts.provider}, {accounts.providerAccountId} LIMIT ` + strconv.Itoa(accountPage))
	q.deleteAccount = l.sql(`DELETE FROM {accounts}` + key)
	q.deleteAccountsOf = l.sql(`DELETE FROM {accounts} WHERE {accounts.userId} = ?`)
}

// aboutSessions sets the fields of q with statements for sessions.
func (q *queries) aboutSessions(l grammar) {
	const key, owner = ` WHERE {sessions.sessionToken} = ?`, ` WHERE {sessions.userId} = ?`
	q.sessionAndUser = l.sql(`SELECT {s.sessions.*}, {u.users.*} FROM {sessions} s
		JOIN {users} u ON u.{users.id} = s.{sessions.userId} WHERE s.{sessions.sessionToken} = ?`)
	q.sessionKnown = l.sql(`SELECT {sessions.expires!} FROM {sessions} WHERE {sessions.sessionToken} IN (?, ?) LIMIT 1`)
	q.hashToken = l.sql(l.update("sessions") + `{sessions.sessionToken} = ?` + key)
	q.renewSession = l.sql(l.update("sessions") + `{sessions.expires} = ?` + key + ` AND {sessions.expires} < ?`)
	q.sessionExpiry = l.sql(`SELECT {sessions.expires!} FROM {sessions}` + key)
	q.session = l.sql(`SELECT {sessions.*} FROM {sessions}` + key)
	q.deleteSession = l.sql(`DELETE FROM {sessions}` + key)
	q.sessionsOf = l.sql(`SELECT {sessions.*} FROM {sessions}` + owner + ` ORDER BY {sessions.expires} DESC`)
	q.deleteSessions = l.sql(`DELETE FROM {sessions}` + owner)
	q.deleteSessionByID = l.sql(`DELETE FROM {sessions}` + owner + ` AND {sessions.id} = ?`)
	q.deleteSessionsBut = l.sql(`DELETE FROM {sessions}` + owner + ` AND ({sessions.id} <> ? OR {sessions.id} IS NULL)`)
}

// aboutTokens sets the fields of q with statements for verification tokens and passkeys.
func (q *queries) aboutTokens(l grammar) {
	const key = ` WHERE {verification_token.identifier} = ? AND {verification_token.token} = ?`
	q.token = l.sql(`SELECT {verification_token.*} FROM {verification_token}` + key)
	q.deleteToken = l.sql(`DELETE FROM {verification_token}` + key)

	const credential, owner = ` WHERE {authenticators.credentialID} = ?`, ` WHERE {authenticators.userId} = ?`
	q.authenticator = l.sql(`SELECT {authenticators.*} FROM {authenticators}` + credential)
	q.authenticatorsOf = l.sql(`SELECT {authenticators.*} FROM {authenticators}` + owner + ` ORDER BY {authenticators.credentialID}`)
	q.raiseCounter = l.sql(l.update("authenticators") + `{authenticators.counter} = ?` + credential + ` AND {authenticators.counter} < ?`)
	q.deleteAuthenticator = l.sql(`DELETE FROM {authenticators}` + credential)
	q.deleteAuthenticatorsOf = l.sql(`DELETE FROM {authenticators}` + owner)
}

// upsertRevocation returns the statement that adds a revocation. If there is one with the
// key already, the statement keeps the later of each two times.
func (l grammar) upsertRevocation() string {
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

// selectRevocations returns the statement that reads the revocations of n keys. n is at
// least 1.
func (l grammar) selectRevocations(n int) string {
	return l.sql(`SELECT {revocations.key}, {revocations.at} FROM {revocations} WHERE {revocations.key} IN (?` + strings.Repeat(", ?", n-1) + `)`)
}
