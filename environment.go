package latchkey

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// WithEnv returns c with what it leaves empty taken from the environment, as
// [New] does on its own with os.Getenv. It is for those who get the environment
// from elsewhere, and is what Auth.js calls setEnvDefaults. getenv answers
// "" for what is not set.
//
//   - AUTH_SECRET, alias NEXTAUTH_SECRET, and AUTH_SECRET_1 to AUTH_SECRET_3 in
//     front of it, the highest number first
//   - AUTH_URL, alias NEXTAUTH_URL; its path is the base path unless one is set
//   - AUTH_TRUST_HOST, true unless empty, 0, false, no or off, in any case
//   - AUTH_REDIRECT_PROXY_URL
//
// The variables of providers (AUTH_<ID>_ID, AUTH_<ID>_SECRET, AUTH_<ID>_ISSUER)
// are read by New.
func (c Config) WithEnv(getenv func(string) string) Config {
	if len(c.Secrets) == 0 {
		c.Secrets = envSecrets(getenv)
	}
	if c.Site.URL == "" {
		c.Site.URL = firstOf(getenv("AUTH_URL"), getenv("NEXTAUTH_URL"))
	}
	if !c.Site.TrustHost {
		c.Site.TrustHost = envBool(getenv("AUTH_TRUST_HOST"))
	}
	if c.Site.RedirectProxyURL == "" {
		c.Site.RedirectProxyURL = getenv("AUTH_REDIRECT_PROXY_URL")
	}
	if c.Site.BasePath == "" {
		c.Site.BasePath = basePathOf(c.Site.URL, strings.TrimRight(c.Site.Prefix, "/"))
	}
	return c
}

const defaultBasePath = "/auth"

func envSecrets(getenv func(string) string) []string {
	var secrets []string
	for i := 3; i > 0; i-- {
		if s := getenv("AUTH_SECRET_" + strconv.Itoa(i)); s != "" {
			secrets = append(secrets, s)
		}
	}
	if s := firstOf(getenv("AUTH_SECRET"), getenv("NEXTAUTH_SECRET")); s != "" {
		secrets = append(secrets, s)
	}
	return secrets
}

// envBool is off for what people write to switch something off.
func envBool(s string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(strings.TrimSpace(s)))
}

// basePathOf is the base path that the URL of a site implies, without the
// prefix that is taken off before.
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

// providerEnv reads a variable of a provider.
func providerEnv(getenv func(string) string, id, what string) string {
	return getenv(providerVariable(id, what))
}

// providerVariable is AUTH_<ID>_<what>: the id in upper case, - as _.
func providerVariable(id, what string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_" + what
}
