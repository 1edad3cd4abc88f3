package latchkey

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// devices returns the live sessions of a user as the page shows them. here is
// the id of the session that asks.
func devices(sessions []storage.StoredSession, here string, now time.Time) []page.Device {
	var list []page.Device
	for _, s := range sessions {
		if now.Before(s.Expires) {
			name, system := people.BrowserOf(s.UserAgent)
			list = append(list, page.Device{ID: s.ID, Name: name, System: system, Seen: s.Created, This: s.ID != "" && s.ID == here})
		}
	}
	return list
}
