package profile

// HuggingFace is what Hugging Face says about a person.
type HuggingFace struct {
	Standard
	IsPro  bool `json:"isPro"`
	CanPay bool `json:"canPay"`
	Orgs   []struct {
		Sub               string `json:"sub"`
		Name              string `json:"name"`
		Picture           string `json:"picture"`
		PreferredUsername string `json:"preferred_username"`
		IsEnterprise      bool   `json:"isEnterprise"`
		CanPay            bool   `json:"canPay"`
		RoleInOrg         string `json:"roleInOrg"`
		PendingSSO        bool   `json:"pendingSSO"`
		MissingMFA        bool   `json:"missingMFA"`
		ResourceGroups    []struct {
			Sub  string `json:"sub"`
			Name string `json:"name"`
			Role string `json:"role"`
		} `json:"resourceGroups"`
	} `json:"orgs"`
}
