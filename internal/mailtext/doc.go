// Package mailtext words the mail that carries a sign-in link, and takes a last
// look at what goes into it. It is shared by everything that delivers one, and
// knows no way of delivering.
package mailtext
