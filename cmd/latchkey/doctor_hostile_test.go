package main

import (
	"bytes"
	"strings"
	"testing"
)

//
func TestDoctorEscapesWhatServersSay(t *testing.T) {
	const evil = "7\x1b]0;title\x07\x1b[2J\r\u202eOK\nOK    all: fine"
	for _, isJSON := range []bool{false, true} {
		var out bytes.Buffer
		held, r := &report{isHeld: true}, &report{out: &out, isJSON: isJSON}
		judgeRedis(r, "REDIS_URL", "127.0.0.1:1", map[string]string{"redis_version": evil})
		judgeRedis(held, "REDIS_URL", "127.0.0.1:1", map[string]string{"maxmemory_policy": "volatile-" + evil})
		r.take(held)
		if err := r.end(); err != nil {
			t.Error(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\r\u202e") || strings.Contains(out.String(), "\nOK    all") || !strings.Contains(out.String(), `u001b`) {
			t.Errorf("the report has control characters or leaves the text out: %q", &out)
		}
	}
}
