package oauth

import (
	"errors"
	"testing"
	"time"
)

// T-136: what is not supported is named, with the cure and the page, before the
// browser is sent to the provider.
func TestUnsupportedIsNamedBeforeTheRedirect(t *testing.T) {
	for name, row := range map[string]struct {
		document map[string]any
		want     error
	}{
		"T-136 pushed requests":                {map[string]any{"require_pushed_authorization_requests": true}, errPushed},
		"T-136 signed request objects":         {map[string]any{"require_signed_request_object": true}, errRequestObject},
		"T-136 JWT responses only":             {map[string]any{"response_modes_supported": []string{"jwt", "query.jwt"}}, errResponseMode},
		"T-136 TLS only":                       {map[string]any{"token_endpoint_auth_methods_supported": []string{"tls_client_auth", "self_signed_tls_client_auth"}}, errMutualTLS},
		"T-136 pushed requests as an offer":    {map[string]any{"require_pushed_authorization_requests": false}, nil},
		"T-136 JWT responses as an offer":      {map[string]any{"response_modes_supported": []string{"query.jwt", "form_post"}}, nil},
		"T-136 TLS as an offer":                {map[string]any{"token_endpoint_auth_methods_supported": []string{"tls_client_auth", "private_key_jwt"}}, nil},
		"T-136 of a type that nobody expected": {map[string]any{"require_pushed_authorization_requests": "yes", "response_modes_supported": "query.jwt"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.describe(row.document)
			_, err := f.client(t).AuthorizationURL(t.Context(), AuthRequest{})
			if row.want == nil && err != nil || row.want != nil && !errors.Is(err, row.want) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			if row.want != nil {
				wantStep(t, err, StepAuthorization, `docs/protocol.md, "Not supported"`)
			}
		})
	}
}

// T-136: the others end at the callback.
func TestUnsupportedTokens(t *testing.T) {
	members := func(changed map[string]any) map[string]any {
		all := map[string]any{"access_token": "a", "token_type": "Bearer"}
		for name, value := range changed {
			all[name] = value
		}
		return all
	}
	if _, err := parseToken(members(map[string]any{"token_type": "DPoP"}), time.Now()); !errors.Is(err, errDPoP) {
		t.Errorf("T-136 a DPoP token: %v", err)
	}
	for _, code := range []string{"invalid_dpop_proof", "use_dpop_nonce"} {
		if err := namesUnsupported(stated(StepToken, 400, map[string]any{"error": code})); !errors.Is(err, errDPoP) {
			t.Errorf("T-136 %s: %v", code, err)
		}
	}
	if err := checkShape("a.b.c.d.e"); !errors.Is(err, errEncrypted) {
		t.Errorf("T-136 five parts: %v", err)
	}
}
