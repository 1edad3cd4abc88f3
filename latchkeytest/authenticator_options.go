package latchkeytest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// base64URL is a member of JSON that holds bytes in base64url without padding.
type base64URL []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (b *base64URL) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	*b = decoded
	return err
}

func (b base64URL) String() string { return base64.RawURLEncoding.EncodeToString(b) }

// descriptor names a passkey (Web Authentication Level 3, section 5.8.3).
type descriptor struct {
	Type string    `json:"type"`
	ID   base64URL `json:"id"`
}

// lists reports whether the descriptors name the passkey with this id.
func lists(descriptors []descriptor, id []byte) bool {
	return slices.ContainsFunc(descriptors, func(d descriptor) bool {
		return d.Type == "public-key" && string(d.ID) == string(id)
	})
}

// creationOptions are those of Web Authentication Level 3, section 5.4, as far
// as they matter here.
type creationOptions struct {
	RP struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"rp"`
	User struct {
		ID          base64URL `json:"id"`
		Name        string    `json:"name"`
		DisplayName string    `json:"displayName"`
	} `json:"user"`
	Challenge  base64URL `json:"challenge"`
	Algorithms []struct {
		Type string `json:"type"`
		ID   int    `json:"alg"`
	} `json:"pubKeyCredParams"`
	Exclude   []descriptor `json:"excludeCredentials"`
	Selection struct {
		ResidentKey      string `json:"residentKey"`
		UserVerification string `json:"userVerification"`
	} `json:"authenticatorSelection"`
	Attestation string         `json:"attestation"`
	Extensions  map[string]any `json:"extensions"`
}

// requestOptions are those of section 5.5.
type requestOptions struct {
	Challenge        base64URL    `json:"challenge"`
	RPID             string       `json:"rpId"`
	Allow            []descriptor `json:"allowCredentials"`
	UserVerification string       `json:"userVerification"`
}

// parseOptions decodes raw into options, a pointer. Servers send options as they are, or
// as the member "publicKey" or "options" of an object.
func parseOptions(raw []byte, options any) error {
	var wrapped struct {
		Options   json.RawMessage `json:"options"`
		PublicKey json.RawMessage `json:"publicKey"`
	}
	if err := json.Unmarshal(raw, &wrapped); err != nil {
		return fmt.Errorf("latchkeytest: options: %w", err)
	}
	inner := cmp.Or(string(wrapped.PublicKey), string(wrapped.Options), string(raw))
	if err := json.Unmarshal([]byte(inner), options); err != nil {
		return fmt.Errorf("latchkeytest: options: %w", err)
	}
	return nil
}

// parseCreationOptions reads options for a new passkey. The error wraps ErrType if a member
// that browsers need is missing, or user.id is too long. For malformed JSON it wraps none.
func parseCreationOptions(raw []byte) (o creationOptions, err error) {
	if err := parseOptions(raw, &o); err != nil {
		return o, err
	}
	switch {
	case len(o.Challenge) == 0:
		return o, fmt.Errorf("latchkeytest: %w: the options have no challenge", ErrType)
	case len(o.User.ID) == 0 || len(o.User.ID) > 64:
		return o, fmt.Errorf("latchkeytest: %w: user.id has %d bytes, not 1 to 64", ErrType, len(o.User.ID))
	case o.User.Name == "" || o.RP.Name == "":
		return o, fmt.Errorf("latchkeytest: %w: user.name and rp.name are needed", ErrType)
	}
	return o, nil
}

// parseRequestOptions reads options for a sign-in. The error wraps ErrType if there is no
// challenge.
func parseRequestOptions(raw []byte) (o requestOptions, err error) {
	if err := parseOptions(raw, &o); err != nil {
		return o, err
	}
	if len(o.Challenge) == 0 {
		return o, fmt.Errorf("latchkeytest: %w: the options have no challenge", ErrType)
	}
	return o, nil
}

// relyingParty returns the RP ID that a page of the origin asks with: its host, or a
// domain above it (Web Authentication Level 3, section 5.1.3). An empty asked means the
// host. The error wraps ErrSecurity for any other RP ID, unless it is unchecked. Tests
// run on 127.0.0.1, too, which browsers take for no domain.
func relyingParty(origin, asked string, unchecked bool) (string, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("latchkeytest: %q is no origin", origin)
	}
	host := u.Hostname()
	if asked == "" || asked == host {
		return host, nil
	}
	above := strings.HasSuffix(host, "."+asked) && strings.Contains(asked, ".") && net.ParseIP(host) == nil
	if !above && !unchecked {
		return "", fmt.Errorf("latchkeytest: %w: %s may not use the RP ID %q", ErrSecurity, origin, asked)
	}
	return asked, nil
}

// algorithm returns how a new passkey signs: as wanted, or else in the first known way that
// the page lists. The error wraps ErrNotSupported if the page does not list it. If unchecked,
// or if the page lists none, any known wanted is good, and an empty one means ES256.
func (o creationOptions) algorithm(wanted string, unchecked bool) (passkeyAlgorithm, error) {
	known := passkeyAlgorithms()
	named := func(alg passkeyAlgorithm) bool { return alg.name == wanted }
	if wanted != "" && !slices.ContainsFunc(known, named) {
		return passkeyAlgorithm{}, fmt.Errorf("latchkeytest: algorithm %q is none of ES256, ES384, ES512, EdDSA, RS256", wanted)
	}
	if unchecked || len(o.Algorithms) == 0 {
		return known[max(0, slices.IndexFunc(known, named))], nil
	}
	for _, asked := range o.Algorithms {
		i := slices.IndexFunc(known, func(alg passkeyAlgorithm) bool { return alg.id == asked.ID })
		if asked.Type == "public-key" && i >= 0 && (wanted == "" || wanted == known[i].name) {
			return known[i], nil
		}
	}
	return passkeyAlgorithm{}, fmt.Errorf("latchkeytest: %w: no algorithm that is asked for can be had", ErrNotSupported)
}
