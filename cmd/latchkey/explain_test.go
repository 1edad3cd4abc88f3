package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/explain"
)

// explainIt runs latchkey explain with what stands on its standard input.
func explainIt(in string, environ []string, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), append([]string{"explain"}, args...), strings.NewReader(in), &stdout, &stderr, environ)
	return code, stdout.String(), stderr.String()
}

func TestExplain(t *testing.T) {
	const old, newer = "an old secret that is long enough, too", "a new secret that is long enough, as well"
	code := explain.NewCodec([]string{old}).Make(fault.TokenInvalidClient, time.Now())
	t.Run("O-057 the code alone names kind and minute", func(t *testing.T) {
		exit, out, errs := explainIt("", []string{"AUTH_SECRET=" + old}, code)
		if exit != exitOK || !strings.HasPrefix(out, "token.invalid_client at 20") || strings.Contains(out, old) {
			t.Errorf("exit %d: %s%s", exit, out, errs)
		}
	})
	t.Run("O-060 every secret is tried", func(t *testing.T) {
		exit, out, _ := explainIt("", []string{"AUTH_SECRET=" + old, "AUTH_SECRET_1=" + newer}, strings.ToLower(code))
		if exit != exitOK || !strings.HasPrefix(out, "token.invalid_client") {
			t.Errorf("exit %d: %s", exit, out)
		}
	})
	t.Run("O-060 a code that none opens", func(t *testing.T) {
		exit, _, errs := explainIt("", []string{"AUTH_SECRET=" + newer}, code)
		if exit != exitProblem || !strings.Contains(errs, "not a reference code of this site, or its secret is gone") {
			t.Errorf("exit %d: %s", exit, errs)
		}
	})
	t.Run("R-780 a code of a clock that is ahead", func(t *testing.T) {
		early := explain.NewCodec([]string{old}).Make(fault.IDTokenExpired, time.Now().Add(7*time.Minute))
		exit, out, errs := explainIt("", []string{"AUTH_SECRET=" + old}, early)
		if exit != exitOK || !strings.HasPrefix(out, "idtoken.expired at 20") || !strings.Contains(out, "from a clock that is ahead") {
			t.Errorf("exit %d: %s%s", exit, out, errs)
		}
	})
	t.Run("R-781 a code of an instance with other secrets", func(t *testing.T) {
		exit, _, errs := explainIt("", []string{"AUTH_SECRET=" + newer}, code)
		if exit != exitProblem || !strings.Contains(errs, "or another instance has other secrets") {
			t.Errorf("exit %d: %s", exit, errs)
		}
	})
	t.Run("R-789 what the operator can do for a visitor", func(t *testing.T) {
		for detail, want := range map[string]string{"account.taken": "AllowDangerousEmailAccountLinking", "limit.client": "Site.TrustedProxies"} {
			exit, out, _ := explainIt("", nil, detail)
			_, own, _ := strings.Cut(out, "For the operator: ")
			if exit != exitOK || !strings.Contains(out, "For the visitor: ") || !strings.Contains(own, want) {
				t.Errorf("exit %d: %s", exit, out)
			}
		}
	})
	t.Run("R-790 the variable of the provider", func(t *testing.T) {
		log := `{"provider":"acme","reference":"` + code + `","detail":"token.invalid_client"}` + "\n"
		if exit, out, _ := explainIt(log, nil, code, "--log", "-"); exit != exitOK || !strings.Contains(out, "AUTH_ACME_SECRET") {
			t.Errorf("exit %d: %s", exit, out)
		}
	})
	t.Run("O-063 a detail, without secrets", func(t *testing.T) {
		if exit, out, _ := explainIt("", nil, "store.schema"); exit != exitOK || !strings.Contains(out, "latchkey migrate") {
			t.Errorf("exit %d: %s", exit, out)
		}
	})
	t.Run("O-063 a log, without secrets", func(t *testing.T) {
		log := `{"time":"2026-11-24T06:00:00Z","msg":"x","reference":"` + code + `","detail":"token.invalid_client","error":"a\u001b[2Jb","facts":{"host":"a"}}` + "\n"
		exit, out, errs := explainIt(log, nil, code, "--log", "-", "--json")
		var said explained
		if err := json.Unmarshal([]byte(out), &said); err != nil || exit != exitOK || said.Detail != fault.TokenInvalidClient || said.Facts["host"] != "a" {
			t.Fatalf("exit %d, %v: %s%s", exit, err, out, errs)
		}
		if strings.ContainsRune(out, '\x1b') {
			t.Errorf("O-088 %q", out)
		}
	})
	t.Run("R-697 a detail of a later version is printed whole", func(t *testing.T) {
		for detail, want := range map[string]string{"later.kind?of=x#y": "later.kind?of=x#y", "later%zz": "later%zz"} {
			log := `{"msg":"x","reference":"` + code + `","detail":"` + detail + `"}` + "\n"
			if exit, _, errs := explainIt(log, nil, code, "--log", "-"); exit != exitProblem || !strings.Contains(errs, "this version knows no detail "+want+"\n") {
				t.Errorf("exit %d: %s", exit, errs)
			}
		}
	})
	t.Run("R-831 what the log proves comes first", func(t *testing.T) {
		for _, row := range []struct {
			detail fault.Detail
			rest   string
			want   string
		}{
			{fault.StoreAway, `"error":"put: READONLY You can't write against a read only replica."`, "takes no writes"},
			{fault.MailFailed, `"error":"sending SMTP MAIL FROM command: refused (status 550)"`, "refuses the sender"},
			{fault.CSRFMissing, `"facts":{"cookies":"authjs.csrf-token=131"}`, "or the cookie was made with another secret"},
		} {
			code := explain.NewCodec([]string{old}).Make(row.detail, time.Now())
			log := `{"reference":"` + code + `","detail":"` + string(row.detail) + `",` + row.rest + "}\n"
			_, out, _ := explainIt(log, []string{"AUTH_SECRET=" + old}, code, "--log", "-")
			_, causes, _ := strings.Cut(out, "the most likely one first:\n")
			if first, rest, _ := strings.Cut(causes, "\n"); !strings.Contains(first, row.want) || strings.Contains(rest, first) {
				t.Errorf("%s: %s", row.detail, out)
			}
		}
	})
	t.Run("R-831 a line of an instance with other secrets", func(t *testing.T) {
		log := `{"reference":"` + code + `","detail":"token.invalid_client"}` + "\n"
		for secret, says := range map[string]bool{"": false, old: false, newer: true} {
			exit, out, _ := explainIt(log, []string{"AUTH_SECRET=" + secret}, code, "--log", "-")
			if exit != exitOK || strings.Contains(out, "has other ones") != says {
				t.Errorf("exit %d: %s", exit, out)
			}
		}
	})
	t.Run("R-832 the name of a type", func(t *testing.T) {
		for name, want := range map[string]string{"UntrustedHost": "host.untrusted", "missingcsrf": "csrf.missing", "AdapterError": "store.failed"} {
			if exit, out, errs := explainIt("", nil, name); exit != exitOK || !strings.HasPrefix(out, want) {
				t.Errorf("exit %d: %s%s", exit, out, errs)
			}
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if exit, _, _ := explainIt("", []string{"AUTH_SECRET=" + old}, "no.such"); exit != exitProblem {
			t.Errorf("exit %d", exit)
		}
	})
}
