package latchkey

import (
	"cmp"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// WithEnv returns c with what it leaves empty taken from the environment, as [New]
// does on its own with os.Getenv. Use it where the environment comes from elsewhere.
// It is what Auth.js calls setEnvDefaults: New then reads nothing but what getenv
// answers, which is "" for what is not set. If WithEnv is called several times, a later
// call only fills in what is still empty or false. The variables of providers come from
// the first call whose getenv has them.
//
//   - AUTH_SECRET, alias NEXTAUTH_SECRET, and AUTH_SECRET_1 to AUTH_SECRET_3 in
//     front of it, the highest number first
//   - AUTH_URL, alias NEXTAUTH_URL; its path is the base path unless one is set
//   - AUTH_TRUST_HOST, true unless empty, 0, false, no or off, in any case
//   - AUTH_REDIRECT_PROXY_URL
//
// The variables of providers (AUTH_<ID>_ID, AUTH_<ID>_SECRET, AUTH_<ID>_ISSUER)
// are read by New: a field that the caller set wins over the variable, and the variable
// wins over the default of a catalogue.
func (c Config) WithEnv(getenv func(string) string) Config {
	if len(c.Secrets) == 0 {
		c.Secrets = envSecrets(getenv)
	}
	if c.Site.URL == "" {
		c.Site.URL = cmp.Or(getenv("AUTH_URL"), getenv("NEXTAUTH_URL"))
	}
	if !c.Site.TrustHost {
		c.Site.TrustHost = envBool(getenv("AUTH_TRUST_HOST"))
	}
	if c.Site.RedirectProxyURL == "" {
		c.Site.RedirectProxyURL = getenv("AUTH_REDIRECT_PROXY_URL")
	}
	c.implyBasePath()
	c.env.getenv = c.env.before(getenv)
	return c
}

// environment is what WithEnv has done to a Config.
type environment struct {
	getenv   func(string) string // nil: nothing yet
	basePath string              // what it made of Site.URL
}

// before returns a lookup that asks e, and then getenv for what e does not have.
func (e environment) before(getenv func(string) string) func(string) string {
	if e.getenv == nil {
		return getenv
	}
	return func(name string) string { return cmp.Or(e.getenv(name), getenv(name)) }
}

// inEnv returns c with the environment that WithEnv has given it, or else the process's.
func (c Config) inEnv() Config {
	if c.env.getenv == nil {
		return c.WithEnv(os.Getenv)
	}
	c.implyBasePath() // of a URL that was set meanwhile
	return c
}

// implyBasePath sets Site.BasePath to the path of Site.URL, unless the caller has set it.
func (c *Config) implyBasePath() {
	if c.givenBasePath() == "" {
		c.Site.BasePath = basePathOf(c.Site.URL, strings.TrimRight(c.Site.Prefix, "/"))
		c.env.basePath = c.Site.BasePath
	}
}

// givenBasePath returns the base path that the caller set, or "" if it is the one that
// implyBasePath made.
func (c *Config) givenBasePath() string {
	if c.Site.BasePath == c.env.basePath {
		return ""
	}
	return c.Site.BasePath
}

const defaultBasePath = "/auth"

// envSecrets returns the secrets in the environment, the newest first.
func envSecrets(getenv func(string) string) []string {
	var secrets []string
	for i := 3; i > 0; i-- {
		if s := getenv("AUTH_SECRET_" + strconv.Itoa(i)); s != "" {
			secrets = append(secrets, s)
		}
	}
	if s := cmp.Or(getenv("AUTH_SECRET"), getenv("NEXTAUTH_SECRET")); s != "" {
		secrets = append(secrets, s)
	}
	return secrets
}

// envBool returns false for "" and for 0, false, no and off, and true for any other text.
func envBool(s string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(strings.TrimSpace(s)))
}

// basePathOf returns the base path in the URL of a site, without the prefix that a proxy
// removes. It returns /auth for a URL without a path, and for one that is malformed.
func basePathOf(site, prefix string) string {
	u, err := url.Parse(site)
	if err != nil || strings.TrimRight(u.Path, "/") == "" {
		return defaultBasePath
	}
	path := strings.TrimRight(u.Path, "/")
	if rest, ok := strings.CutPrefix(path+"/", prefix+"/"); ok && prefix != "" {
		return "/" + strings.TrimRight(rest, "/")
	}
	return path
}

// chosen returns the value of a provider's field. field is what the provider has now. If
// that is not the catalogue's value, the caller has set it, and it wins over the
// variable. Otherwise the variable wins unless it is empty.
func chosen(field, ofCatalogue, variable string) string {
	if field == ofCatalogue {
		return cmp.Or(variable, field)
	}
	return field
}

// providerVariable returns AUTH_<ID>_<what>, with the id in upper case and - as
// _.
func providerVariable(id, what string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_" + what
}
