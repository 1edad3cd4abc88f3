package providers

import (
	"cmp"

	"github.com/latchkeyhq/latchkey"
)

// AzureAD signs in as [MicrosoftEntraID] does, under its old name, for sites with that
// name in their callback URL and stored accounts: only id and name differ, and the
// variables with them (AUTH_AZURE_AD_ISSUER). Its profile is a [profile.Entra].
func AzureAD(p latchkey.OAuth) *latchkey.OAuth {
	p.ID = cmp.Or(p.ID, "azure-ad")
	p.Name = cmp.Or(p.Name, "Azure Active Directory")
	return MicrosoftEntraID(p)
}
