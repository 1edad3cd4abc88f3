package factor

import "github.com/latchkeyhq/latchkey/internal/knownbrowsers"

// BrowserLife is how long a browser stays known after its last sign-in.
const BrowserLife = knownbrowsers.Life

type (
	// Browsers keeps the browsers that users have signed in from.
	Browsers = knownbrowsers.Browsers
	// BrowserSignIn is a sign-in that came out of a browser.
	BrowserSignIn = knownbrowsers.SignIn
)
