package explain

import "github.com/latchkeyhq/latchkey/fault"

// siteTexts explains the site, its requests and its configuration.
var siteTexts = []Text{
	{100, fault.HostUntrusted, Operator, "Nothing says which host to believe.", []string{"`AUTH_URL` is not set."}, "Set `AUTH_URL` to the address that browsers show. A site with many hosts sets `AUTH_TRUST_HOST=true` instead, behind a proxy that admits no others."},
	{101, fault.HostUnknown, Operator, "A request names a host that is malformed or not allowed.", []string{"`Site.AllowedHosts` lacks the host or its port.", "A program that looks for weak sites made the request."}, "Add the host to `Site.AllowedHosts`, with its port where it has another one."},
	{102, fault.CSRFOtherSite, Developer, "The browser says that another site asks for this.", []string{"A page of another origin has posted the form.", "A proxy for development passes on the `Origin` of its own port."}, "Post from a page of the same origin, and open the site at `AUTH_URL`."},
	{103, fault.CSRFMissing, Developer, "A form has no valid CSRF token.", []string{"The form lacks `csrfToken`, or its cookie is blocked.", secretsCause}, "Put `auth.CSRFToken` into the form. If it fails only now and then, give all instances the same secrets."},
	{104, fault.RequestUnknown, Developer, "No route has this path or method.", []string{"The path is misspelled.", "A prefix is stripped before the program sees the path."}, "Compare the path with `Site.BasePath`. Behind `http.StripPrefix`, set `Site.Prefix`."},
	{105, fault.RequestMalformed, Visitor, "A request cannot be read.", []string{"The body ends too early or is no JSON object."}, "Nothing has to be done, unless a form of yours sends it."},
	{106, fault.RequestLarge, Visitor, "A request is too large.", []string{"The body, the query or one value exceeds its limit."}, "Send less, or raise `Limits.MaxBodyBytes`."},
	{107, fault.RequestCanceled, Visitor, "The client went away before the answer.", []string{"The user closed the page.", "A proxy has a shorter timeout than `Limits`."}, "Nothing has to be done."},
	{108, fault.CallbackURLInvalid, Developer, "A destination is no path and no http(s) URL.", []string{"`callbackUrl` of a link is malformed.", "`Callbacks.Redirect` chose a scheme that is not allowed."}, "Use a path such as `/welcome`."},
	{109, fault.RedirectForeign, Developer, "A guard's `RedirectTo` leads to another site.", []string{"Only your own origin is accepted."}, "Accept the other origin in `Callbacks.Redirect`."},
	{110, fault.TenantUnknown, Operator, "A request is for no tenant.", []string{"The host or path names a tenant that does not exist."}, "Add the tenant, or correct the link."},
	{111, fault.PagesLoop, Developer, "The application's own error page asks for a sign-in.", []string{"`Pages.Error` is behind a guard."}, "Let the page through without a session."},
	{112, fault.PagesFailed, Developer, "A built-in page could not be made.", []string{"A text of `Config.Texts` is no template that fits."}, "Correct the text that the log names."},
	{113, fault.BearerOff, Developer, "Session tokens for apps are not switched on.", []string{"`Session.Bearer` is not set."}, "Set `Session.Bearer`."},
	{114, fault.BearerCode, Visitor, "The code of an app is wrong, too old or was used.", []string{"The app sent it twice, or with another verifier."}, "Have the app begin a new sign-in."},
	{115, fault.BearerToken, Developer, "A session token holds what a header cannot.", []string{"An own `JWT.Encode` makes such tokens."}, "Correct `Session.JWT.Encode`."},
	{116, fault.ConfigInvalid, Developer, "A field of the configuration, or an argument, makes no sense.", []string{"The log names the field."}, "Correct it."},
	{117, fault.ConfigSecret, Operator, "There is no secret, or one that is known to all.", []string{"`AUTH_SECRET` is not set, or is a placeholder."}, "Run `latchkey secret --append .env`."},
	{118, fault.ConfigAdapter, Developer, "A feature needs an Adapter.", []string{"`Config.Adapter` is nil."}, "Set `Config.Adapter`."},
	{119, fault.ConfigAbility, Developer, "A feature needs more of the Adapter than it has.", []string{"The log names the interface that it lacks."}, "Use an Adapter that has it, or switch the feature off."},
	{120, fault.ConfigProvider, Developer, "A provider is configured wrongly.", []string{"A client id, secret or function is missing."}, "Set what the log names."},
	{121, fault.ConfigEndpoints, Developer, "The issuer or an endpoint of a provider makes no sense.", []string{"A URL is not https or is malformed."}, "Correct the URL that the log names."},
	{122, fault.ConfigStrategy, Developer, "The session strategy does not go with the rest.", []string{"Stored sessions need an Adapter.", "JWT sessions cannot be ended without `Session.Revocations`."}, "Set `Session.Strategy` or `Session.Revocations`."},
	{123, fault.ConfigContext, Developer, "A call needs a context with a session.", []string{"`Auth.Middleware` or a guard is not in front of the handler."}, "Put `Auth.Middleware` in front, or use `ReadSession`."},
	{124, fault.PasskeyForm, Developer, "A form cannot offer passkeys while a user types.", []string{"No field has `webauthn` in its autocomplete, or several providers want it."}, "Mark one field of one provider."},
}
