package latchkey

import (
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/storage"
)

// devices returns the live sessions of a user as the page shows them. here is
// the id of the session that asks.
func devices(sessions []storage.StoredSession, here string, now time.Time) []page.Device {
	var list []page.Device
	for _, s := range sessions {
		if now.Before(s.Expires) {
			list = append(list, page.Device{
				ID: s.ID, Name: firstNamed(browserNames, s.UserAgent), System: firstNamed(systemNames, s.UserAgent),
				Seen: s.Created, This: s.ID != "" && s.ID == here,
			})
		}
	}
	return list
}

// Parts of a User-Agent header and what they say. The first that is found
// counts: browsers name those they descend from.
var (
	browserNames = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser", "Samsung Internet"},
		{"Firefox", "Firefox"},
		{"FxiOS", "Firefox"},
		{"CriOS", "Chrome"},
		{"Chrome", "Chrome"},
		{"Safari", "Safari"},
		{"curl/", "curl"},
	}
	systemNames = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	}
)

// firstNamed returns the first name with its mark in a browser's description,
// or "".
func firstNamed(names [][2]string, agent string) string {
	for _, n := range names {
		if strings.Contains(agent, n[0]) {
			return n[1]
		}
	}
	return ""
}
