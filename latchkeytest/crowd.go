package latchkeytest

import (
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// crowdNames are given names and family names in twenty scripts. Where family names come
// first, they do so here.
var crowdNames = []struct {
	given, family []string
	familyFirst   bool
}{
	{[]string{"Ada", "Grace", "José", "Zoë"}, []string{"Lovelace", "Hopper", "Núñez", "Erdős"}, false},
	{[]string{"Αθηνά", "Γιώργος"}, []string{"Παπαδοπούλου", "Νικολάου"}, false},
	{[]string{"Ольга", "Иван"}, []string{"Ладыженская", "Петров"}, false},
	{[]string{"Անահիտ", "Արամ"}, []string{"Հակոբյան", "Սարգսյան"}, false},
	{[]string{"ნინო", "გიორგი"}, []string{"ბერიძე", "კაპანაძე"}, false},
	{[]string{"שרה", "דוד"}, []string{"כהן", "לוי"}, false},
	{[]string{"فاطمة", "عمر"}, []string{"الفهرية", "الخيام"}, false},
	{[]string{"अनन्या", "रवि"}, []string{"शर्मा", "वर्मा"}, false},
	{[]string{"অনন্যা", "রবি"}, []string{"সেন", "ঠাকুর"}, false},
	{[]string{"ਹਰਪ੍ਰੀਤ", "ਗੁਰਜੀਤ"}, []string{"ਕੌਰ", "ਸਿੰਘ"}, false},
	{[]string{"મીરા", "કિરણ"}, []string{"પટેલ", "શાહ"}, false},
	{[]string{"தமிழ்", "கவிதா"}, []string{"செல்வன்", "ராஜன்"}, false},
	{[]string{"లక్ష్మి", "రాము"}, []string{"రెడ్డి", "రావు"}, false},
	{[]string{"ಕಾವ್ಯ", "ರಾಜು"}, []string{"ಗೌಡ", "ಹೆಗ್ಡೆ"}, false},
	{[]string{"മായ", "അനിൽ"}, []string{"നായർ", "മേനോൻ"}, false},
	{[]string{"สมหญิง", "สมชาย"}, []string{"ใจดี", "รักไทย"}, false},
	{[]string{"ሰላም", "አበበ"}, []string{"ተስፋዬ", "ቢቂላ"}, false},
	{[]string{"はなこ", "たろう"}, []string{"さとう", "やまだ"}, true},
	{[]string{"서연", "민준"}, []string{"김", "이"}, true},
	{[]string{"丽", "伟"}, []string{"王", "李"}, true},
}

// crowdBegan is when the first user of a crowd was created.
var crowdBegan = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// Crowd returns n users for tests and demonstrations of lists, with names in twenty
// scripts. It returns the same users each time: their ids are crowd-1 and so on, and
// each was created an hour after the one before. About a tenth of them has no name, and a
// fifth has an address that is not proven. A negative n is 0.
func Crowd(n int) []storage.User {
	list := make([]storage.User, 0, max(n, 0))
	for i := range max(n, 0) {
		u := storage.User{
			ID: fmt.Sprintf("crowd-%d", i+1), Email: fmt.Sprintf("crowd-%d@example.com", i+1), Created: crowdBegan.Add(time.Duration(i) * time.Hour),
		}
		in, turn := crowdNames[i%len(crowdNames)], i/len(crowdNames)
		given, family := in.given[turn%len(in.given)], in.family[turn/len(in.given)%len(in.family)]
		switch {
		case (i+turn)%10 == 9:
		case in.familyFirst:
			u.Name = family + given
		default:
			u.Name = given + " " + family
		}
		if i%5 != 3 {
			u.EmailVerified = u.Created.Add(time.Minute)
		}
		list = append(list, u)
	}
	return list
}
