package providers_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

func TestYandexMapping(t *testing.T) {
	for name, row := range map[string]struct {
		profile latchkey.Claims
		want    latchkey.Identity
	}{
		"real name where there is no other": {latchkey.Claims{"id": "1", "display_name": nil, "real_name": "Иван"}, latchkey.Identity{Subject: "1", Name: "Иван"}},
		"first name in the end":             {latchkey.Claims{"id": "1", "first_name": "Иван"}, latchkey.Identity{Subject: "1", Name: "Иван"}},
		"first of the e-mails":              {latchkey.Claims{"id": "1", "emails": []any{"a@ya.ru", "b@ya.ru"}}, latchkey.Identity{Subject: "1", Email: "a@ya.ru"}},
		"no e-mail":                         {latchkey.Claims{"id": "1", "emails": []any{}}, latchkey.Identity{Subject: "1"}},
		"stub for a picture":                {latchkey.Claims{"id": "1", "default_avatar_id": "0/0-0", "is_avatar_empty": true}, latchkey.Identity{Subject: "1"}},
		"unknown whether a stub":            {latchkey.Claims{"id": "1", "default_avatar_id": "0/0-0"}, latchkey.Identity{Subject: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := providers.Yandex(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: row.profile})
			if err != nil || got.Subject != row.want.Subject || got.Name != row.want.Name || got.Email != row.want.Email || got.Image != row.want.Image {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if _, err := providers.Yandex(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: latchkey.Claims{"id": "1", "emails": []any{7}}}); err == nil {
		t.Error("a number became an e-mail")
	}
}

func TestYandexAvatars(t *testing.T) {
	for size, pixels := range map[providers.YandexAvatarSize]int{
		"islands-small": 28, "islands-34": 34, "islands-middle": 42, "islands-50": 50, "islands-retina-small": 56,
		"islands-68": 68, "islands-75": 75, "islands-retina-middle": 84, "islands-retina-50": 100, "islands-200": 200, "islands-1": 0,
	} {
		if got := size.Pixels(); got != pixels {
			t.Errorf("%s has %d pixels, want %d", size, got, pixels)
		}
	}
	for id, want := range map[string]string{
		"":            "",
		"131652443":   "https://avatars.yandex.net/get-yapic/131652443/islands-68",
		"1/enc-a?b#c": "https://avatars.yandex.net/get-yapic/1/enc-a%3Fb%23c/islands-68",
	} {
		if got := providers.YandexAvatarURL(id, providers.YandexAvatar68); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}

func TestYandexBirthdates(t *testing.T) {
	for text, want := range map[string][4]int{
		"1987-03-12": {1987, 3, 12, 1}, "0000-12-23": {0, 12, 23, 1}, "1987-00-00": {1987, 0, 0, 1},
		"": {}, "1987": {}, "1987-3-12": {}, "+987-03-12": {}, "abcd-ef-gh": {}, "19870-3-12": {},
	} {
		year, month, day, ok := profile.Yandex{Birthday: &text}.Birthdate()
		if got := [4]int{year, month, day, map[bool]int{true: 1}[ok]}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestR317WhatYandexDoesNotSay(t *testing.T) {
	for name, claims := range map[string]latchkey.Claims{
		"absent": {"id": "1"}, "null": {"id": "1", "sex": nil, "birthday": nil, "is_avatar_empty": nil},
	} {
		p, err := latchkey.Decode[profile.Yandex](claims)
		if err != nil || p.Sex != nil || p.Birthday != nil || p.IsAvatarEmpty != nil {
			t.Errorf("R-317 %s: %+v, %v", name, p, err)
		}
		if _, _, _, ok := p.Birthdate(); ok {
			t.Errorf("R-317 %s: a birthday", name)
		}
	}
	p, err := latchkey.Decode[profile.Yandex](latchkey.Claims{"sex": profile.YandexFemale, "birthday": "", "is_avatar_empty": false})
	if err != nil || p.Sex == nil || *p.Sex != profile.YandexFemale || p.Birthday == nil || p.IsAvatarEmpty == nil || *p.IsAvatarEmpty {
		t.Errorf("R-317 said: %+v, %v", p, err)
	}
}

func TestYandexOnTheWire(t *testing.T) {
	server := api{"/token": tokenAnswer, "/info": jsonOf(t, record(t, "yandex").Profile)}.serve(t)
	s := newSite(t, server, providers.Yandex(latchkey.OAuth{}))
	s.comeBack(t, "yandex")
	if calls := s.wire.to("login.yandex.ru/info"); len(calls) != 1 || calls[0].Query != "format=json" {
		t.Errorf("calls %v", calls)
	}
	if calls := s.wire.to("oauth.yandex.ru/token"); len(calls) != 1 {
		t.Errorf("calls %v", calls)
	}
}
