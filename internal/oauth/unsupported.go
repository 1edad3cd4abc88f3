package oauth

import (
	"errors"
	"slices"
)

// UnsupportedError reports that a provider demands what this package cannot do. The
// page docs/protocol.md lists all of it.
type UnsupportedError struct {
	Feature string // what is demanded
	Cure    string // what to switch off at the provider
}

// Error returns the feature, the cure and the page.
func (e *UnsupportedError) Error() string {
	return "the provider demands " + e.Feature + ", which is not supported: " + e.Cure + ` (docs/protocol.md, "Not supported")`
}

var (
	errPushed = &UnsupportedError{
		"pushed authorization requests (RFC 9126)",
		"switch off require_pushed_authorization_requests for this client",
	}
	errRequestObject = &UnsupportedError{
		"signed request objects (RFC 9101)",
		"switch off require_signed_request_object for this client",
	}
	errResponseMode = &UnsupportedError{
		"a response mode other than query and form_post",
		"allow query or form_post",
	}
	errMutualTLS = &UnsupportedError{
		"client authentication by a TLS certificate (RFC 8705)",
		"allow client_secret_basic, client_secret_post or private_key_jwt",
	}
	errDPoP = &UnsupportedError{
		"proofs of possession (DPoP, RFC 9449)",
		"have it issue bearer tokens to this client",
	}
	errEncrypted = &UnsupportedError{
		"tokens that are encrypted, of five parts and not three parts",
		"have it sign them and no more (no id_token_encrypted_response_alg or userinfo_encrypted_response_alg)",
	}
)

// findUnsupported returns what a discovery document demands that this package cannot
// do, or nil.
func findUnsupported(members map[string]any) error {
	isSet := func(name string) bool { on, _ := members[name].(bool); return on }
	has := func(name string, usable ...string) bool {
		list, _ := members[name].([]any)
		return len(list) == 0 || slices.ContainsFunc(list, func(v any) bool { s, _ := v.(string); return slices.Contains(usable, s) })
	}
	onlyTLS := func() bool {
		list, _ := members["token_endpoint_auth_methods_supported"].([]any)
		return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return v != "tls_client_auth" && v != "self_signed_tls_client_auth" })
	}
	switch {
	case isSet("require_pushed_authorization_requests"):
		return errPushed
	case isSet("require_signed_request_object"):
		return errRequestObject
	case !has("response_modes_supported", "query", "form_post"):
		return errResponseMode
	case onlyTLS():
		return errMutualTLS
	}
	return nil
}

// namesUnsupported joins errDPoP to err if the error code of the token endpoint asks for
// DPoP. It returns every other err as it is.
func namesUnsupported(err error) error {
	said, ok := errors.AsType[*ResponseError](err)
	if ok && (said.Code == "invalid_dpop_proof" || said.Code == "use_dpop_nonce") {
		return errors.Join(err, errDPoP)
	}
	return err
}
