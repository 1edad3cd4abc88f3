// Package providers is the catalogue of ready-made providers: functions that complete a
// [latchkey.OAuth].
//
// What the caller sets stays. What is left empty comes from the catalogue. The client
// id and secret are best left to the environment (AUTH_GITHUB_ID, AUTH_GITHUB_SECRET):
//
//	providers.GitHub(latchkey.OAuth{})
//	providers.GitHub(latchkey.OAuth{Scopes: []string{"read:user", "user:email", "read:org"}})
//
// The callback URL to register with a provider is {site}{base
// path}/callback/{id}, such as https://app.example/auth/callback/github.
//
// What a provider says about a person reaches callbacks as [latchkey.Claims].
// The types of package profile give it a shape:
//
//	who, err := latchkey.Decode[profile.GitHub](attempt.Profile)
//
// They are for reading. To decide who a user is, read the claims by their exact names,
// because encoding/json also fills a field from a name in another case.
package providers
