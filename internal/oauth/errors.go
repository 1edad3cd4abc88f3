package oauth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Step names a part of the conversation with the provider, in errors.
type Step string

// The steps.
const (
	StepDiscovery     Step = "discovery"
	StepKeys          Step = "keys"
	StepAuthorization Step = "authorization"
	StepToken         Step = "token"
	StepUserInfo      Step = "userinfo"
	StepIDToken       Step = "id token"
	StepRevocation    Step = "revocation"
	StepLogout        Step = "logout token"
)

// ResponseError is an error that the provider itself stated: in the parameters
// the browser brought back (StepAuthorization) or in an answer to a call.
// Its texts are the provider's, cut and made printable. They are untrusted, and
// belong in a log, never on a page.
type ResponseError struct {
	Step        Step
	Status      int    // of the answer; 0 at StepAuthorization
	Code        string // RFC 6749 section 4.1.2.1 or 5.2, or the provider's own
	Description string // may be empty, and may repeat secrets of the request; not part of Error

	wait time.Duration // that the answer asks for before the next try; 0: none
}

// Error returns the step, the code and the status, if there is one. It leaves out
// the description.
func (e *ResponseError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("oauth: %s: the provider answered with error \"%s\"", e.Step, e.Code)
	}
	return fmt.Sprintf("oauth: %s: the provider answered with error \"%s\" (status %d)", e.Step, e.Code, e.Status)
}

// StepError is any other failure of a step. There was no answer, or the answer
// cannot be used or fails a check.
type StepError struct {
	Step   Step
	Status int   // of the answer; 0 if there was none or it does not matter
	Err    error // holds nothing secret; context.Canceled and context.DeadlineExceeded can be found in it

	wait time.Duration // that the answer asks for before the next try; 0: none
}

// Error returns the step, the text of Err and the status, if there is one.
func (e *StepError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("oauth: %s: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("oauth: %s: %v (status %d)", e.Step, e.Err, e.Status)
}

// Unwrap returns Err.
func (e *StepError) Unwrap() error { return e.Err }

// Check names what a failed step found wrong, where it is worth telling apart.
type Check string

// The checks.
const (
	CheckTransport Check = "transport" // there was no answer
	CheckTLS       Check = "tls"       // the certificate of the provider cannot be verified
	CheckSignature Check = "signature" // no key of the provider verifies it
	CheckIssuer    Check = "issuer"
	CheckAudience  Check = "audience"
	CheckNonce     Check = "nonce"
	CheckExpired   Check = "expired"
	CheckEarly     Check = "early" // from the future
)

// CheckOf returns the check that err failed. It returns "" if err is nil, or if the
// failure has no Check.
func CheckOf(err error) Check {
	if failed, ok := errors.AsType[*checkError](err); ok {
		return failed.check
	}
	return ""
}

// checkError is the reason of a failure that has a name.
type checkError struct {
	check Check
	text  string
}

// Error returns the text.
func (e *checkError) Error() string { return e.text }

// failed returns an error with a formatted text, for which CheckOf returns c.
func failed(c Check, format string, args ...any) error {
	return &checkError{c, fmt.Sprintf(format, args...)}
}

// fail returns a StepError with a fixed text.
func fail(step Step, text string) error {
	return &StepError{Step: step, Err: errors.New(text)}
}

// maxDescription leaves secrets of the request whole that a description may
// repeat, so that the logger recognizes and removes them.
const maxDescription = 16 << 10

// stated returns a *ResponseError if the member error of answer is a text that is not
// empty, and nil otherwise. It does so for every status, because GitHub and others send
// errors with 200.
func stated(step Step, status int, answer map[string]any) error {
	code, ok := answer["error"].(string)
	if !ok || code == "" {
		return nil
	}
	description, _ := answer["error_description"].(string)
	return &ResponseError{Step: step, Status: status, Code: printable(code, 64), Description: printable(description, maxDescription)}
}

// printable cuts s to limit bytes, adds an ellipsis if it has cut, and escapes what
// could forge a log line. The escapes can make the result longer than limit.
func printable(s string, limit int) string {
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	quoted := strconv.QuoteToGraphic(s)
	return quoted[1 : len(quoted)-1]
}

// transportError returns the error of a failed call without the parts that could repeat
// the request or the answer: *url.Error carries the whole URL, and net/http quotes
// malformed answers. It returns context.Canceled or context.DeadlineExceeded if err
// wraps one of them, and otherwise an error of CheckTLS or CheckTransport.
func transportError(err error) error {
	var (
		network     *net.OpError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		record      tls.RecordHeaderError
		timeout     net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.As(err, &certificate), errors.As(err, &authority):
		return failed(CheckTLS, "the certificate of the server cannot be verified")
	case errors.As(err, &record):
		return failed(CheckTransport, "the server does not speak TLS")
	case errors.As(err, &dns):
		return failed(CheckTransport, "the name of the server cannot be resolved")
	case errors.As(err, &network):
		return failed(CheckTransport, "network failure (%s)", network.Op)
	case errors.As(err, &timeout) && timeout.Timeout():
		return failed(CheckTransport, "timed out")
	}
	return failed(CheckTransport, "the call failed")
}
