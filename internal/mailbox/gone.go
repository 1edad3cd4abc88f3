package mailbox

import "errors"

// ErrGone reports that a mail server has refused a mailbox because it does not exist.
var ErrGone = errors.New("the mailbox does not exist")
