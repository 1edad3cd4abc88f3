package profile

// Lark is what Lark says about a person.
type Lark struct {
	Code int64  `json:"code"`
	Msg  string `json:"msg"`
	Data struct {
		Name            string `json:"name"`
		EnName          string `json:"en_name"`
		AvatarURL       string `json:"avatar_url"`
		AvatarThumb     string `json:"avatar_thumb"`
		OpenID          string `json:"open_id"`
		UnionID         string `json:"union_id"`
		Email           string `json:"email"`
		EnterpriseEmail string `json:"enterprise_email"`
		UserID          string `json:"user_id"`
		Mobile          string `json:"mobile"`
		TenantKey       string `json:"tenant_key"`
		EmployeeNo      string `json:"employee_no"`
	} `json:"data"`
}
