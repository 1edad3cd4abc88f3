package sqlstore

import (
	"cmp"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"iter"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// What databases refuse, and what to do about it.
const (
	refusedUser  = "it refuses the user or the password"
	noAccess     = "the user may not enter this database, or there is none of this name"
	lacksRights  = "the user lacks the rights for this: let the owner of the database do it"
	noSchema     = "there is no schema to work in: create the one that search_path names, and let the user create tables in it"
	noDatabase   = "there is no database of this name: create it first"
	noFile       = "the file is not there or cannot be opened; `latchkey migrate` makes it, but not its folder"
	notSQLite    = "the file is no SQLite database"
	mayNotWrite  = "the file may not be written to"
	inUse        = "another program is using it: try again"
	tooMany      = "it takes no more connections: let it take more, or the pools of all instances have fewer"
	notServing   = "it is starting or ending: try again"
	withoutTLS   = "the database has no TLS, which the connection demands (PostgreSQL: sslmode, MySQL: tls)"
	uncertified  = "the certificate of the database is not accepted: check the host name and the authority that is trusted"
	lostPrepared = "prepared statements get lost behind a pool that lends connections for one transaction, such as PgBouncer: " +
		"set pgx's default_query_exec_mode=cache_describe, and with database/sql Options.Unprepared too"
)

// cures has what to do about codes that a setting of the program or of the database
// mends.
var cures = map[string]string{
	"SQLSTATE 26000": lostPrepared, "SQLSTATE 42P05": lostPrepared,
	"SQLSTATE 28P01": refusedUser, "SQLSTATE 28000": refusedUser, "SQLSTATE 3D000": noDatabase, "SQLSTATE 3F000": noSchema,
	"SQLSTATE 42501": lacksRights, "SQLSTATE 55P03": inUse, "SQLSTATE 53300": tooMany, "SQLSTATE 57P03": notServing,
	"MySQL error 1045": refusedUser, "MySQL error 1698": refusedUser, "MySQL error 1044": noAccess, "MySQL error 1049": noDatabase,
	"MySQL error 1142": lacksRights, "MySQL error 1143": lacksRights, "MySQL error 1227": lacksRights,
	"MySQL error 1040": tooMany, "MySQL error 1203": tooMany, "MySQL error 1205": inUse,
	"SQLite code 14": noFile, "SQLite code 26": notSQLite, "SQLite code 8": mayNotWrite, "SQLite code 5": inUse,
}

// cureOf returns what to do about a code of diagnose, for codes that a setting of the
// program or of the database mends. It returns "" for all others.
func cureOf(code string) string {
	if digits, is := strings.CutPrefix(code, sqliteCode); is { // of an extended code the lowest byte
		number, _ := strconv.Atoi(digits)
		code = sqliteCode + strconv.Itoa(number&0xff)
	}
	return cures[code]
}

// What databases refuse for reasons that the codes of a class share.
const (
	broken       = "the connection to it broke: check the network, then try again"
	lacksFeature = "it lacks a feature that this needs: use a version of the database that is supported"
	misfits      = "a column does not take a value: compare the tables with `latchkey doctor`"
	ruleRefuses  = "a rule of a table, such as a foreign key of yours, does not allow this: `latchkey doctor` shows the tables"
	onlyReads    = "it only reads here, as a replica does: connect to the primary server"
	othersFirst  = "other work was in the way: try again"
	lacksTables  = "a table or a column is missing or has another form: `latchkey migrate` makes what is missing"
	lacksRoom    = "it has run out of memory, of disk space or of connections: give it more"
	tookTooLong  = "it took longer than the database allows: try again, or raise its statement_timeout"
	unknownName  = "it knows no setting of that name: check what follows the ? in its URL"
	ownFault     = "it has a fault of its own: its log says which, and its operator has to mend it"
	ownReason    = "it refuses this for a reason that its log tells under this code: show that to its operator"
)

// classes has what to do about other codes, and about all whose beginning it names: the
// first two characters of a SQLSTATE, and of a code of SQLite the lowest byte.
var classes = map[string]string{
	"SQLSTATE 08": broken, "SQLSTATE 0A": lacksFeature, "SQLSTATE 22": misfits, "SQLSTATE 23": ruleRefuses, "SQLSTATE 25006": onlyReads, "SQLSTATE 57014": tookTooLong,
	"SQLSTATE 28": refusedUser, "SQLSTATE 40": othersFirst, "SQLSTATE 42": lacksTables, "SQLSTATE 53": lacksRoom, "SQLSTATE 54": misfits,
	"SQLSTATE 55": othersFirst, "SQLSTATE 57": notServing, "SQLSTATE 58": ownFault, "SQLSTATE XX": ownFault,
	"MySQL error 1193": unknownName,
	"MySQL error 1021": lacksRoom, "MySQL error 1037": lacksRoom, "MySQL error 1038": lacksRoom, "MySQL error 1041": lacksRoom, "MySQL error 1114": lacksRoom,
	"MySQL error 1048": ruleRefuses, "MySQL error 1062": ruleRefuses, "MySQL error 1451": ruleRefuses, "MySQL error 1452": ruleRefuses,
	"MySQL error 1054": lacksTables, "MySQL error 1146": lacksTables, "MySQL error 1213": othersFirst, "MySQL error 1235": lacksFeature,
	"MySQL error 1264": misfits, "MySQL error 1292": misfits, "MySQL error 1366": misfits, "MySQL error 1406": misfits,
	"MySQL error 1290": onlyReads, "MySQL error 1836": onlyReads, "MySQL error 1053": notServing,
	"SQLite code 1": lacksTables, "SQLite code 3": mayNotWrite, "SQLite code 6": othersFirst, "SQLite code 7": lacksRoom, "SQLite code 10": ownFault,
	"SQLite code 11": ownFault, "SQLite code 13": lacksRoom, "SQLite code 18": misfits, "SQLite code 19": ruleRefuses, "SQLite code 20": misfits,
}

// explain returns what a code of diagnose means and what to do about it. For an unknown
// code it points to the log of the database. It returns "" for a text that is no code.
func explain(code string) string {
	if cure := cureOf(code); cure != "" {
		return cure
	}
	class := code
	if digits, is := strings.CutPrefix(code, sqliteCode); is {
		number, _ := strconv.Atoi(digits)
		class = sqliteCode + strconv.Itoa(number&0xff)
	} else if strings.HasPrefix(code, sqlState) {
		class = code[:min(len(code), len(sqlState)+2)]
	}
	if text := cmp.Or(classes[code], classes[class]); text != "" {
		return text
	}
	for _, begin := range []string{sqlState, mysqlError, sqliteCode} {
		if strings.HasPrefix(code, begin) {
			return ownReason
		}
	}
	return ""
}

// unfitTexts find the column or the index in what a database says of a value that it
// does not take, and its limit. They match names and numbers only: the rest of the text
// may quote the value.
var unfitTexts = map[string]*regexp.Regexp{
	"SQLSTATE 54000":   regexp.MustCompile("maximum (\\d+) for index [\"`]([\\w$.-]+)[\"`]"),
	"MySQL error 1406": regexp.MustCompile(`for column ('[\w$-]+') at row`),
	"MySQL error 1292": regexp.MustCompile("for column ([`'.\\w$-]+) at row"),
}

// unfitText returns a clause that says which column or index does not take a value. code
// is that of an error, and text is the driver's. It repeats only names and numbers of
// text. It returns "" if code is about something else, or text names no column.
func unfitText(code, text string) string {
	pattern := unfitTexts[code]
	if pattern == nil {
		return ""
	}
	found := pattern.FindStringSubmatch(text)
	switch {
	case found == nil:
		return ""
	case len(found) == 3:
		return "the index " + found[2] + " takes no key of more than " + found[1] + " bytes"
	}
	column := strings.NewReplacer("`", "", "'", "").Replace(found[1])
	if code == "MySQL error 1292" {
		return "the column " + column + " does not take a time of this form or range"
	}
	return "the column " + column + " is too short for this"
}

// passes reports whether the same call may succeed later without any cure, as far as the
// answer of the database tells. err must not be nil.
func passes(err error) bool {
	kind, code := diagnose(err)
	switch cureOf(code) {
	case inUse, tooMany, notServing:
		return true
	}
	return kind == unfit || kind == locked || errors.Is(err, driver.ErrBadConn) || causeOf(err).Error() == mysqlGone
}

// mysqlGone is the text of the MySQL driver's error for a connection that broke
// during a statement. The error has no type.
const mysqlGone = "invalid connection"

// Refusal returns what a database refused and what to do about it, such as "there is no
// database of this name: create it first (SQLSTATE 3D000)". err is an error of this
// package or of a driver. Refusal never repeats the driver's text, which quotes values
// and settings. It returns "" for nil, if the database did not answer, and for an error
// that did not come from a database.
func Refusal(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, errUnreadable) {
		return errUnreadable.Error()
	}
	_, code := diagnose(err)
	if text := unfitText(code, causeOf(err).Error()); text != "" {
		return text + " (" + code + ")"
	}
	if text := explain(code); text != "" {
		return text + " (" + code + ")"
	}
	return tlsReason(causeOf(err))
}

// tlsTexts are the texts of drivers' errors for a server without TLS. The errors
// have no type.
var tlsTexts = []string{"server refused TLS connection", "server does not support TLS", "SSL is not enabled on the server"}

// tlsReason returns what is wrong with TLS if err says that TLS failed, or else "". err
// must not be nil.
func tlsReason(err error) string {
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return uncertified
	}
	for _, text := range tlsTexts {
		if strings.Contains(err.Error(), text) {
			return withoutTLS
		}
	}
	return ""
}

// unreached returns a text that says that the database cannot be reached, with the
// address in numbers if err has it. It never repeats the name of the host, which may be
// part of a password that was not escaped in a connection string.
func unreached(err error) string {
	if network, is := errors.AsType[*net.OpError](err); is {
		if at, is := network.Addr.(*net.TCPAddr); is && at != nil {
			return "the database cannot be reached at " + at.String()
		}
	}
	if dns, is := errors.AsType[*net.DNSError](err); is && dns.IsNotFound {
		return "the database cannot be reached: the name of its host is unknown"
	}
	return "the database cannot be reached"
}

// chain yields an error and all that it wraps, joined errors included.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(err, yield) }
}

// walk calls yield for an error and all that it wraps, the outer ones first, until yield
// returns false. It returns false if yield did. For nil it calls nothing and returns
// true.
func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	if many, is := err.(interface{ Unwrap() []error }); is {
		for _, each := range many.Unwrap() {
			if !walk(each, yield) {
				return false
			}
		}
		return true
	}
	return walk(errors.Unwrap(err), yield)
}
