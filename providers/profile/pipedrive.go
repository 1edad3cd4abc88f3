package profile

// Pipedrive is what Pipedrive says about a person and their company, in its envelope.
type Pipedrive struct {
	Success bool          `json:"success"`
	Data    PipedriveUser `json:"data"`
}

// PipedriveUser is the person.
type PipedriveUser struct {
	ID                  int64             `json:"id"`
	Name                string            `json:"name"`
	DefaultCurrency     string            `json:"default_currency"`
	Locale              string            `json:"locale"`
	Lang                int64             `json:"lang"`
	Email               string            `json:"email"`
	Phone               string            `json:"phone"`
	Activated           bool              `json:"activated"`
	LastLogin           string            `json:"last_login"`
	Created             string            `json:"created"`
	Modified            string            `json:"modified"`
	SignupFlowVariation string            `json:"signup_flow_variation"`
	HasCreatedCompany   bool              `json:"has_created_company"`
	IsAdmin             int64             `json:"is_admin"` // 1: yes
	ActiveFlag          bool              `json:"active_flag"`
	TimezoneName        string            `json:"timezone_name"`
	TimezoneOffset      string            `json:"timezone_offset"`
	RoleID              int64             `json:"role_id"`
	IconURL             string            `json:"icon_url"`
	IsYou               bool              `json:"is_you"`
	CompanyID           int64             `json:"company_id"`
	CompanyName         string            `json:"company_name"`
	CompanyDomain       string            `json:"company_domain"`
	CompanyCountry      string            `json:"company_country"`
	CompanyIndustry     string            `json:"company_industry"`
	Language            PipedriveLanguage `json:"language"`
}

// PipedriveLanguage is what Pipedrive speaks with them.
type PipedriveLanguage struct {
	LanguageCode string `json:"language_code"`
	CountryCode  string `json:"country_code"`
}
