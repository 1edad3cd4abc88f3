package profile

import (
	"strconv"
)

// The values of [Yandex].Sex.
const (
	YandexFemale = "female"
	YandexMale   = "male"
)

// Yandex is what Yandex says about a person. Everything below PSUID
// depends on the scopes and on what the person gave Yandex.
type Yandex struct {
	ID       string `json:"id"`
	Login    string `json:"login"`
	ClientID string `json:"client_id"` // of the application the token was issued for
	PSUID    string `json:"psuid"`     // made of client and user: the same person has another one elsewhere

	DisplayName string `json:"display_name"`
	FirstName   string `json:"first_name"`
	LastName    string `json:"last_name"`
	RealName    string `json:"real_name"` // first and last name as the person gave them

	Sex          *string      `json:"sex"`      // YandexFemale or YandexMale; nil: unknown
	Birthday     *string      `json:"birthday"` // YYYY-MM-DD, see Birthdate; nil: unknown
	DefaultEmail string       `json:"default_email"`
	Emails       []string     `json:"emails"` // currently only the default e-mail
	DefaultPhone *YandexPhone `json:"default_phone"`

	DefaultAvatarID string `json:"default_avatar_id"` // for YandexAvatarURL
	IsAvatarEmpty   *bool  `json:"is_avatar_empty"`   // the picture is the stub for those who have none; nil: Yandex does not say
}

// YandexPhone is a telephone number. Yandex may leave it out whenever it likes.
type YandexPhone struct {
	ID     int64  `json:"id"`
	Number string `json:"number"`
}

// Birthdate takes Birthday apart. Parts that the person did not give are 0, as in
// 0000-12-23. ok is false if there is no birthday, or one of another form than
// YYYY-MM-DD. Birthdate does not check that the day exists.
func (p Yandex) Birthdate() (year, month, day int, ok bool) {
	if p.Birthday == nil {
		return 0, 0, 0, false
	}
	text := *p.Birthday
	if len(text) != len("YYYY-MM-DD") || text[4] != '-' || text[7] != '-' {
		return 0, 0, 0, false
	}
	var number [3]int
	for i, part := range []string{text[:4], text[5:7], text[8:]} {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return 0, 0, 0, false
		}
		number[i] = int(n)
	}
	return number[0], number[1], number[2], true
}
