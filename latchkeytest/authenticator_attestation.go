package latchkeytest

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"time"
)

// AttestationRoot returns the certificate that issues those of "basic" attestation, for
// sites that check the maker of an authenticator. The first call makes it.
func (a *Authenticator) AttestationRoot() (*x509.Certificate, error) {
	if a.attester == nil {
		made, err := newAttester()
		if err != nil {
			return nil, err
		}
		a.attester = made
	}
	return a.attester.root, nil
}

// attest returns the attestation object (Web Authentication Level 3, section 6.5) for a
// page that asked for this conveyance, such as "direct". It needs the data of prepare.
func (c *passkeyCeremony) attest(asked string) ([]byte, error) {
	format, statement, err := c.statement(asked)
	if err != nil {
		return nil, err
	}
	object := map[string]any{"fmt": format, "attStmt": statement, "authData": c.rawData}
	edit(c.a.bad.Attestation, object)
	encoded, err := encodeCBOR(object)
	return rewrite(c.a.bad.RawAttestation, encoded), err
}

// statement returns the format and the attestation statement: "packed" (section 8.2), or
// "none" (section 8.7) unless page and authenticator want more. Another kind is an error.
func (c *passkeyCeremony) statement(asked string) (format string, statement map[string]any, err error) {
	kind := c.a.Attestation
	if asked == "" || asked == "none" {
		kind = "" // browsers take it out
	}
	switch kind {
	case "", "none":
		return "none", map[string]any{}, nil
	case "self":
		signature, err := c.a.bad.signature(c.passkey.key, c.signed())
		return "packed", map[string]any{"alg": c.passkey.key.algorithm.id, "sig": signature}, err
	case "basic":
		if _, err := c.a.AttestationRoot(); err != nil {
			return "", nil, err
		}
		certificate, key, err := c.a.attester.certify(c.data.AAGUID)
		if err != nil {
			return "", nil, err
		}
		signature, err := c.a.bad.signature(key, c.signed())
		return "packed", map[string]any{"alg": key.algorithm.id, "sig": signature, "x5c": []any{certificate}}, err
	}
	return "", nil, fmt.Errorf("latchkeytest: attestation %q is none of none, self, basic", kind)
}

// attester is the maker of an authenticator, as certificates know it.
type attester struct {
	root *x509.Certificate
	key  passkeyKey
}

// newAttester returns a maker with a new key and a root certificate that it has signed
// itself.
func newAttester() (*attester, error) {
	key, err := passkeyAlgorithms()[0].newKey()
	if err != nil {
		return nil, err
	}
	template := attestationCertificate("Latchkey test root")
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key.Signer)
	if err != nil {
		return nil, err
	}
	root, err := x509.ParseCertificate(encoded)
	return &attester{root, key}, err
}

// certify issues a certificate for authenticators of a model, as section 8.2.1
// wants it.
func (m *attester) certify(aaguid []byte) (certificate []byte, key passkeyKey, err error) {
	if key, err = passkeyAlgorithms()[0].newKey(); err != nil {
		return nil, key, err
	}
	model, err := asn1.Marshal(aaguid)
	if err != nil {
		return nil, key, err
	}
	template := attestationCertificate("Latchkey test authenticator")
	template.Subject.OrganizationalUnit = []string{"Authenticator Attestation"}
	template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 45724, 1, 1, 4}, Value: model}}
	certificate, err = x509.CreateCertificate(rand.Reader, template, m.root, key.Public(), crypto.Signer(m.key.Signer))
	return certificate, key, err
}

func attestationCertificate(name string) *x509.Certificate {
	const years = 10
	return &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{Country: []string{"NL"}, Organization: []string{"Latchkey"}, CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(years, 0, 0),
		BasicConstraintsValid: true,
	}
}
