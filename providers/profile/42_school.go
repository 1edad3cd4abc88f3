package profile

// FortyTwoSchool is what 42 School says about a person.
type FortyTwoSchool struct {
	ID             int64  `json:"id"`
	Email          string `json:"email"`
	Login          string `json:"login"` // may change
	FirstName      string `json:"first_name"`
	LastName       string `json:"last_name"`
	UsualFullName  string `json:"usual_full_name"`
	UsualFirstName string `json:"usual_first_name"`
	URL            string `json:"url"`
	Phone          string `json:"phone"` // "hidden" unless the person shows it
	Displayname    string `json:"displayname"`
	Image          struct {
		Link     string `json:"link"`
		Versions struct {
			Large  string `json:"large"`
			Medium string `json:"medium"`
			Small  string `json:"small"`
			Micro  string `json:"micro"`
		} `json:"versions"`
	} `json:"image"`
	IsStaff         bool             `json:"staff?"`
	CorrectionPoint int64            `json:"correction_point"`
	PoolMonth       string           `json:"pool_month"`
	PoolYear        string           `json:"pool_year"`
	Location        string           `json:"location"` // the seat in use; empty: none
	Wallet          int64            `json:"wallet"`
	AnonymizeDate   string           `json:"anonymize_date"`
	CreatedAt       string           `json:"created_at"`
	UpdatedAt       string           `json:"updated_at"`
	Alumni          bool             `json:"alumni"`
	IsLaunched      bool             `json:"is_launched?"`
	Groups          []map[string]any `json:"groups"`
	CursusUsers     []struct {
		Grade  string  `json:"grade"`
		Level  float64 `json:"level"`
		Skills []struct {
			ID    int64   `json:"id"`
			Name  string  `json:"name"`
			Level float64 `json:"level"`
		} `json:"skills"`
		BlackholedAt string `json:"blackholed_at"` // when the student is to leave the course
		ID           int64  `json:"id"`
		BeginAt      string `json:"begin_at"`
		EndAt        string `json:"end_at"`
		CursusID     int64  `json:"cursus_id"`
		HasCoalition bool   `json:"has_coalition"`
		CreatedAt    string `json:"created_at"`
	} `json:"cursus_users"`
	ProjectsUsers  []map[string]any `json:"projects_users"`
	LanguagesUsers []struct {
		ID         int64  `json:"id"`
		LanguageID int64  `json:"language_id"`
		UserID     int64  `json:"user_id"`
		Position   int64  `json:"position"`
		CreatedAt  string `json:"created_at"`
	} `json:"languages_users"`
	Achievements []map[string]any `json:"achievements"`
	Titles       []map[string]any `json:"titles"`
	Campus       []struct {
		ID       int64  `json:"id"`
		Name     string `json:"name"`
		TimeZone string `json:"time_zone"`
	} `json:"campus"`
}
