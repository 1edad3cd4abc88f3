package providers

import "github.com/latchkeyhq/latchkey"

// Meetup signs in with a Meetup account. Its profile is a [profile.Meetup].
//
// Register an OAuth client at https://www.meetup.com/api/oauth/list/ with a
// redirect URI that ends in /callback/meetup; Meetup approves each by hand.
//
// The person is asked for with a query of Meetup's GraphQL API, for what its
// guide shows: the id and the name. There is no e-mail and no picture.
//
// See https://www.meetup.com/api/authentication/.
func Meetup(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "meetup",
		Name:          "Meetup",
		Authorization: latchkey.Endpoint{URL: "https://secure.meetup.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://secure.meetup.com/oauth2/access"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.meetup.com/gql-ext"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{"basic"},
		Identify:      fields{subject: "data.self.id", name: "data.self.name", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#ed1c40"},
	}), graphQL("query { self { id name } }"))
}
