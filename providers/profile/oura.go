package profile

// Oura is what Oura says about a person.
type Oura struct {
	ID            string  `json:"id"`
	Age           int64   `json:"age"`
	Weight        float64 `json:"weight"` // kg
	Height        float64 `json:"height"` // m
	BiologicalSex string  `json:"biological_sex"`
	Email         string  `json:"email"`
}
