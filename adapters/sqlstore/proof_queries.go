package sqlstore

import "strings"

// proofQueries are the statements for factors, recovery codes, challenges, browsers
// and passwords.
type proofQueries struct {
	insertFactor, insertChallenge, insertBrowser, insertPassword insert

	factor, factorsOf, useFactor, failFactor, failures, deleteFactor string
	deleteCodes, deleteCode, countCodes                              string
	challenge, tryChallenge, deleteChallenge                         string
	browser, browsersOf, putBrowser, renewBrowser                    string
	deleteBrowserRow, deleteBrowser, deleteBrowsers                  string
	password, setPassword, failPassword, passwordFailures            string
	deletePassword                                                   string

	deleteOwned []owned
}

// owned is the statement that deletes what a user has in a table.
type owned struct{ table, sql string }

// proofQueries returns the statements of a layout for factors, recovery codes,
// challenges, browsers and passwords, and those that delete what a user owns. It is
// called once for a store.
func (l grammar) proofQueries() (q proofQueries) {
	q.insertFactor, q.insertChallenge = l.insert("factors"), l.insert("challenges")
	q.insertBrowser, q.insertPassword = l.insert("browsers"), l.insert("passwords")
	q.aboutFactors(l)
	q.aboutChallenges(l)
	q.aboutBrowsers(l)
	q.aboutPasswords(l)
	for _, table := range []string{"suspensions", "activities", "factors", "recovery_codes", "challenges", "browsers", "passwords"} {
		if l.has(table) {
			q.deleteOwned = append(q.deleteOwned, owned{table, l.sql(`DELETE FROM {` + table + `} WHERE {` + table + `.user_id} = ?`)})
		}
	}
	return q
}

// aboutFactors sets the fields of q with statements for factors and recovery codes.
func (q *proofQueries) aboutFactors(l grammar) {
	const id, owner = ` WHERE {factors.id} = ?`, ` WHERE {factors.user_id} = ?`
	q.factor = l.sql(`SELECT {factors.*} FROM {factors}` + owner + ` AND {factors.id} = ?`)
	q.factorsOf = l.sql(`SELECT {factors.*} FROM {factors}` + owner + ` ORDER BY {factors.created}, {factors.id}`)
	q.useFactor = l.sql(l.update("factors") + `{factors.step} = ?, {factors.failures} = 0, {factors.used} = ?,
		{factors.secret} = CASE WHEN ? THEN ? ELSE {factors.secret} END` + id + ` AND {factors.step} < ?`)
	q.failFactor = l.sql(l.update("factors") + `{factors.failures} = {factors.failures} + 1` + id)
	q.failures = l.sql(`SELECT {factors.failures} FROM {factors}` + id)
	q.deleteFactor = l.sql(`DELETE FROM {factors}` + owner + ` AND {factors.id} = ?`)

	const codes = ` FROM {recovery_codes} WHERE {recovery_codes.user_id} = ?`
	q.deleteCodes = l.sql(`DELETE` + codes)
	q.deleteCode = l.sql(`DELETE` + codes + ` AND {recovery_codes.hash} = ?`)
	q.countCodes = l.sql(`SELECT COUNT(*)` + codes)
}

// insertCodes returns the statement that adds n recovery codes. Its arguments are the
// user's id and a hash for each. n is at least 1.
func (l grammar) insertCodes(n int) string {
	return l.sql(`INSERT INTO {recovery_codes} ({recovery_codes.user_id}, {recovery_codes.hash}) VALUES (?, ?)` + strings.Repeat(", (?, ?)", n-1))
}

// aboutChallenges sets the fields of q with statements for challenges.
func (q *proofQueries) aboutChallenges(l grammar) {
	const id = ` WHERE {challenges.id} = ?`
	q.challenge = l.sql(`SELECT {challenges.*} FROM {challenges}` + id)
	q.tryChallenge = l.sql(l.update("challenges") + `{challenges.tries} = {challenges.tries} + 1` + id + ` AND {challenges.tries} < ?`)
	q.deleteChallenge = l.sql(`DELETE FROM {challenges}` + id)
}

// listChallenges returns the statement that lists challenges, newest first. The statement
// compares each column in compared with an argument, and its last argument is how many
// rows it lists at most. If isNull is not empty, the column of that name must be null.
// compared and isNull must not both be empty.
func (l grammar) listChallenges(compared []string, isNull string) string {
	var where []string
	for _, column := range compared {
		where = append(where, `{challenges.`+column+`} = ?`)
	}
	if isNull != "" {
		where = append(where, `{challenges.`+isNull+`} IS NULL`)
	}
	return l.sql(`SELECT {challenges.*} FROM {challenges} WHERE ` + strings.Join(where, " AND ") +
		` ORDER BY {challenges.created} DESC, {challenges.id} LIMIT ?`)
}

// deleteChallenges returns the statement that deletes a user's challenges that have one
// of n purposes, or with n = 0 all of the user's.
func (l grammar) deleteChallenges(n int) string {
	statement := `DELETE FROM {challenges} WHERE {challenges.user_id} = ?`
	if n > 0 {
		statement += ` AND {challenges.purpose} IN (?` + strings.Repeat(", ?", n-1) + `)`
	}
	return l.sql(statement)
}

// aboutBrowsers sets the fields of q with statements for browsers. On MySQL it leaves
// putBrowser empty.
func (q *proofQueries) aboutBrowsers(l grammar) {
	const row, owner = ` WHERE {browsers.id} = ? AND {browsers.user_id} = ?`, ` WHERE {browsers.user_id} = ?`
	q.browser = l.sql(`SELECT {browsers.*} FROM {browsers}` + row)
	q.browsersOf = l.sql(`SELECT {browsers.*} FROM {browsers}` + owner + ` ORDER BY {browsers.seen} DESC, {browsers.public_id}`)
	q.renewBrowser = l.sql(l.update("browsers") + `{browsers.id} = ?, {browsers.seen} = ? WHERE {browsers.id} = ?`)
	q.deleteBrowserRow = l.sql(`DELETE FROM {browsers}` + row)
	q.deleteBrowser = l.sql(`DELETE FROM {browsers}` + owner + ` AND {browsers.public_id} = ?`)
	q.deleteBrowsers = l.sql(`DELETE FROM {browsers}` + owner)
	if l.dialect == MySQL { // whose upsert would change the row with the same public id
		return
	}
	var set []string
	for _, column := range []string{"public_id", "created", "seen", "trusted", "expires", "user_agent"} {
		set = append(set, l.sql(`{browsers.`+column+`} = EXCLUDED.{browsers.`+column+`}`))
	}
	for _, name := range l.touched["browsers"] {
		set = append(set, l.dialect.quote(name)+` = EXCLUDED.`+l.dialect.quote(name))
	}
	plain, _ := strings.CutSuffix(q.insertBrowser.sql, " DO NOTHING")
	q.putBrowser = plain + l.sql(` ({browsers.id}, {browsers.user_id}) DO UPDATE SET `) + strings.Join(set, ", ")
}

// aboutPasswords sets the fields of q with statements for passwords.
func (q *proofQueries) aboutPasswords(l grammar) {
	const owner = ` WHERE {passwords.user_id} = ?`
	hash := `{passwords.hash} = ?`
	if l.dialect == MySQL { // where a collation takes different hashes for the same
		hash = `CAST(CONVERT({passwords.hash} USING utf8mb4) AS BINARY) = ?`
	}
	q.password = l.sql(`SELECT {passwords.*} FROM {passwords}` + owner)
	q.setPassword = l.sql(l.update("passwords") + `{passwords.hash} = ?, {passwords.failures} = ?, {passwords.renew} = ?, {passwords.changed} = ?` +
		owner + ` AND ` + hash)
	q.failPassword = l.sql(l.update("passwords") + `{passwords.failures} = {passwords.failures} + 1` + owner)
	q.passwordFailures = l.sql(`SELECT {passwords.failures} FROM {passwords}` + owner)
	q.deletePassword = l.sql(`DELETE FROM {passwords}` + owner)
}
