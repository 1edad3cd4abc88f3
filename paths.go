package latchkey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// actions are the first segments below the base path that are the library's.
// Those that are only sometimes on say so in offersAction; the rest of the
// names is kept free for what is to come, and belongs to the application until
// then. takesName: a second segment may follow, the id of a provider or the name
// of a file.
var actions = map[string]struct{ reserved, takesName bool }{
	"providers":        {},
	"session":          {},
	"csrf":             {},
	"signin":           {takesName: true},
	"signout":          {},
	"callback":         {takesName: true},
	"verify-request":   {},
	"error":            {},
	"webauthn-options": {takesName: true},

	"account": {}, // not in Auth.js
	"client":  {takesName: true},

	"signed-out":          {takesName: true},
	"backchannel-logout":  {takesName: true},
	"frontchannel-logout": {takesName: true},
	"factor":              {},
	"reauth":              {}, // not in Auth.js
	"password":            {}, // not in Auth.js
	"invite":              {}, // not in Auth.js
	"act-as":              {}, // not in Auth.js
	"device":              {reserved: true},
	"signals":             {reserved: true},
	"leaks":               {reserved: true},
}

// passing names the visitors for whom a guard lets a page of [Pages] pass, as bits.
type passing uint8

const (
	passSignedOut passing = 1 << iota // a guard leads them to the sign-in page
	passDenied                        // they are signed in, and refused: they may enter as another user
	passUnproven                      // they are signed in, and a proof is asked for

	passAll = passSignedOut | passDenied | passUnproven
)

// ownPage is one of [Pages].
type ownPage struct {
	field, url string // url is empty: the page is the built-in one
	pass       passing
}

// ownPages returns all of [Pages], with the visitors whom no guard may keep from them:
// those whom a sign-in, a lost password, a second factor or a mail leads there. A user who
// is refused gets the built-in error page instead, and only signed-in users see NewUser.
func ownPages(p *Pages) []ownPage {
	return []ownPage{
		{"SignIn", p.SignIn, passAll},
		{"SignOut", p.SignOut, passAll},
		{"Error", p.Error, passSignedOut | passUnproven},
		{"VerifyRequest", p.VerifyRequest, passAll},
		{"Password", p.Password, passAll},
		{"Factor", p.Factor, passAll},
		{"Reauth", p.Reauth, passUnproven},
		{"Invite", p.Invite, passAll},
		{"NewUser", p.NewUser, 0},
	}
}

// IsAction reports whether name is an action, the first segment of a path below the base
// path, as isAuthAction of Auth.js does. It also knows the actions that only Latchkey has,
// switched on or not, and the names it keeps for later. To route a request use [Auth.Match].
func IsAction(name string) bool {
	_, ok := actions[name]
	return ok
}

// offersAction reports whether name is an action that the configuration switches on.
func (c *Config) offersAction(name string) bool {
	a, ok := actions[name]
	if on, known := c.logouts.isOffered(name); known {
		return on
	}
	if name == "act-as" {
		return c.Session.ActAs.Max > 0
	}
	return ok && !a.reserved && (name != "account" || c.AccountPage.Enabled) && (name != "password" || c.passwords > 0 || c.AccountPage.movesAddresses()) && (name != "factor" || c.Factors.isOn()) &&
		(name != "reauth" || c.stepsUp()) && (name != "invite" || c.Invitations)
}

// stepsUp reports whether the site has the page /reauth, where users prove their identity
// again.
func (c *Config) stepsUp() bool { return c.Factors.isOn() || c.passwords > 0 }

// isServed reports whether a configuration can switch on name, an action.
func isServed(name string) bool { return !actions[name].reserved }

// routesBelow returns the paths of the actions that offers reports, as patterns of
// [http.ServeMux], relative to the path group. It returns an error if base is not below
// group.
func routesBelow(base, group string, offers func(action string) bool) ([]string, error) {
	below, ok := strings.CutPrefix(base+"/", strings.TrimRight(group, "/")+"/")
	if !ok {
		return nil, fmt.Errorf("latchkey: the base path %s is not below %s, where its routes would be: set Site.BasePath", base, group)
	}
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		if !offers(name) {
			continue
		}
		path := "/" + below + name
		if paths = append(paths, path); actions[name].takesName {
			paths = append(paths, path+"/{name}")
		}
	}
	return paths, nil
}

// isBelow reports whether a path is below the base path.
func (c *Config) isBelow(path string) bool {
	rest, ok := strings.CutPrefix(path, c.Site.BasePath)
	return ok && rest != "" && rest[0] == '/'
}

// owns reports whether a path belongs to the library: its first segment below the base
// path is an action that is on.
func (c *Config) owns(path string) bool {
	rest, ok := strings.CutPrefix(path, c.Site.BasePath)
	if !ok || rest == "" || rest[0] != '/' {
		return false
	}
	name, _ := nextSegment(rest)
	return c.offersAction(name)
}

// parsePath splits a path below base into action and provider, or file. ok is false if the
// path names no action, or has a segment too many. An action that is off is ok. parsePath
// tolerates extra slashes, but no escapes.
func parsePath(base, path string) (action, providerID string, ok bool) {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest == "" || rest[0] != '/' {
		return "", "", false
	}
	action, rest = nextSegment(rest)
	providerID, rest = nextSegment(rest)
	if strings.Trim(rest, "/") != "" || !IsAction(action) {
		return "", "", false
	}
	if providerID != "" && !actions[action].takesName {
		return "", "", false
	}
	if action == "signin" && providerID == "undefined" { // clients write a missing id as text
		providerID = ""
	}
	return action, providerID, true
}

// nextSegment returns the first segment of a path, without the slashes before it, and
// what follows it.
func nextSegment(path string) (segment, rest string) {
	path = strings.TrimLeft(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// logouts says which of the routes of a logout are on.
type logouts struct{ any, backChannel, frontChannel bool }

// add switches on the routes that a provider needs.
func (l *logouts) add(p *Logout) {
	l.any, l.backChannel, l.frontChannel = l.any || p.isOn(), l.backChannel || p.BackChannel, l.frontChannel || p.FrontChannel
}

// isOffered reports whether a route is on; known is false for routes of other things.
func (l *logouts) isOffered(action string) (on, known bool) {
	switch action {
	case "signed-out":
		return l.any, true
	case "backchannel-logout":
		return l.backChannel, true
	case "frontchannel-logout":
		return l.frontChannel, true
	}
	return false, false
}
