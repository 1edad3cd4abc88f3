package explain

import "github.com/latchkeyhq/latchkey/fault"

// operatorCures are what the operator can do about failures that are for the visitor.
var operatorCures = map[fault.Detail]string{
	fault.LimitClient:  "If many visitors meet it, they share one limit: `Site.TrustedProxies` is not set, or is not the network of your proxy. The lines of the log then all have the same `client`.",
	fault.LimitMails:   "If many visitors meet it, they share one limit: `Site.TrustedProxies` is not set, or is not the network of your proxy. The lines of the log then all have the same `client`.",
	fault.AccountTaken: "Set `AllowDangerousEmailAccountLinking` of a provider to have such users linked by their e-mail address. Do so only for a provider that verifies addresses: whoever can claim an address there takes over the account here.",
}

// OperatorCure returns what the operator can do about a failure that is the visitor's to
// mend, or "" if there is no such text.
func OperatorCure(d fault.Detail) string { return operatorCures[d] }
