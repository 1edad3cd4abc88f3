package profile

import (
	"encoding/json"
)

// Entra is what a Microsoft ID token says. Most members are optional
// claims, which an application asks for in its registration.
type Entra struct {
	IDToken
	TenantID          string `json:"tid"`
	ObjectID          string `json:"oid"` // of the person in the tenant, the same for every application
	SessionID         string `json:"sid"`
	IdentityProvider  string `json:"idp"`
	Version           string `json:"ver"` // "2.0"
	Name              string `json:"name"`
	GivenName         string `json:"given_name"`
	FamilyName        string `json:"family_name"`
	PreferredUsername string `json:"preferred_username"` // may change and be taken over by another person
	UPN               string `json:"upn"`                // user principal name; changes too
	Picture           string `json:"picture"`            // set by EntraPhoto

	// Email is not proven to be the person's; see MicrosoftEntraID.
	Email                  string     `json:"email"`
	EmailDomainVerified    Flag       `json:"xms_edov"`
	VerifiedPrimaryEmail   StringList `json:"verified_primary_email"`
	VerifiedSecondaryEmail StringList `json:"verified_secondary_email"`

	Roles         StringList `json:"roles"`
	Groups        StringList `json:"groups"`
	HasGroups     Flag       `json:"hasgroups"` // there are too many groups to list
	AccountStatus int        `json:"acct"`      // 0: member of the tenant, 1: guest
	AuthContexts  StringList `json:"acrs"`

	Country           string      `json:"ctry"`
	TenantCountry     string      `json:"tenant_ctry"`
	TenantRegion      string      `json:"tenant_region_scope"`
	PreferredLanguage string      `json:"xms_pl"`
	TenantLanguage    string      `json:"xms_tpl"`
	DataLocation      string      `json:"xms_pdl"`
	LoginHint         string      `json:"login_hint"` // opaque
	IPAddress         string      `json:"ipaddr"`
	ForwardedFor      string      `json:"fwd"`
	InCorporateNet    string      `json:"in_corp"`
	VNet              string      `json:"vnet"`
	OnPremisesSID     string      `json:"onprem_sid"`
	DeviceID          string      `json:"ztdid"`
	Capabilities      StringList  `json:"xms_cc"`
	PasswordExpires   json.Number `json:"pwd_exp"` // in seconds from the time of issue; empty: not said
	PasswordURL       string      `json:"pwd_url"`
	TokenID           string      `json:"uti"`
	AIO               string      `json:"aio"` // Microsoft's own
	RH                string      `json:"rh"`  // Microsoft's own
}
