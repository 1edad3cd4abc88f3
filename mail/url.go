package mail

import (
	"errors"
	"net/url"
	"strconv"
)

// ParseURL reads a server from a URL, as EMAIL_SERVER often holds one:
//
//	smtp://user:password@smtp.example:587    STARTTLS, which is required
//	smtps://user:password@smtp.example       TLS from the first byte; so does smtp on port 465
//	smtp://localhost:1025?tls=none           a mail catcher on this machine
//
// The value of tls is one of the constants of [Security]. No other parameter is
// allowed. User and password are percent-encoded where they hold one of @ : / ? # %.
// ParseURL sets Host, Port (0 if the URL has none), Username, Password and Security;
// the caller sets From and everything else. Errors do not repeat the URL.
func ParseURL(rawURL string) (Server, error) {
	u, err := url.Parse(rawURL)
	switch {
	case rawURL == "":
		return Server{}, errors.New("mail: the server's URL is empty: want one such as smtp://user:password@smtp.example:587")
	case err != nil: // *url.Error repeats the password
		return Server{}, errors.New("mail: the server's URL is malformed: user and password need percent-encoding")
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return Server{}, errors.New("mail: the server's URL does not begin with smtp:// or smtps://")
	case u.Hostname() == "":
		return Server{}, errors.New("mail: the server's URL names no host")
	case (u.Path != "" && u.Path != "/") || u.Fragment != "":
		return Server{}, errors.New("mail: something follows the host of the server's URL: user and password need percent-encoding")
	}
	s := Server{Host: u.Hostname(), Username: u.User.Username()}
	s.Password, _ = u.User.Password()
	if s.Port, err = port(u.Port()); err != nil {
		return Server{}, err
	}
	if s.Security, err = security(u, s.Port); err != nil {
		return Server{}, err
	}
	return s, nil
}

// port returns the port that text says, or 0 for an empty text.
func port(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 {
		return 0, errors.New("mail: the port of the server's URL is not between 1 and 65535")
	}
	return n, nil
}

// security returns the protection that the scheme, the port and the parameter tls ask
// for. It refuses every other parameter: another library may understand it as a demand
// for more safety.
func security(u *url.URL, port int) (Security, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", errors.New("mail: the query of the server's URL is malformed")
	}
	for name, values := range query {
		if name != "tls" || len(values) != 1 {
			return "", errors.New("mail: the query of the server's URL may only hold one tls")
		}
	}
	wanted := Security(query.Get("tls"))
	switch wanted {
	case "", STARTTLS, ImplicitTLS, Unencrypted, UnencryptedAnywhere:
	default:
		return "", errors.New("mail: tls in the server's URL is none of starttls, tls, none")
	}
	switch {
	case u.Scheme == "smtps" && wanted != "" && wanted != ImplicitTLS:
		return "", errors.New("mail: the server's URL begins with smtps:// and tls says otherwise")
	case u.Scheme == "smtps", wanted == "" && port == 465:
		return ImplicitTLS, nil
	case wanted == "":
		return STARTTLS, nil
	}
	return wanted, nil
}
