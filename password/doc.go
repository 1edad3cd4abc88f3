// Package password hashes passwords, checks them, and says why a new one is too weak.
//
// A [Hasher] hashes with argon2id (RFC 9106) and checks the hashes of other programs:
// Django, Devise, Laravel, better-auth, and everything in the PHC string format. It
// limits the memory of all checks together, so that many sign-ins at a time slow each
// other down instead of ending the process.
//
// [Provider] adds passwords to a site: the library keeps them, lets users sign up, and
// mails links to new ones. See latchkey.Password.
//
// In [latchkey.Credentials], Authorize calls [Hasher.Check] with the hash that the
// application stored for the user, or with an empty one for an unknown user.
package password
