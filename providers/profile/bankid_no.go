package profile

// BankIDNorway is what BankID Norge says about a person.
type BankIDNorway struct {
	Standard
	Type               string `json:"typ"`
	BankIDNumber       string `json:"bankid_altsub"` // of the person in BankID
	Originator         string `json:"originator"`
	AdditionalCertInfo struct {
		CertValidFrom int64  `json:"certValidFrom"`
		SerialNumber  string `json:"serialNumber"`
		KeyAlgorithm  string `json:"keyAlgorithm"`
		KeySize       string `json:"keySize"`
		PolicyOID     string `json:"policyOid"`
		CertQualified bool   `json:"certQualified"`
		CertValidTo   int64  `json:"certValidTo"`
		VersionNumber string `json:"versionNumber"`
		SubjectName   string `json:"subjectName"`
	} `json:"additionalCertInfo"`
	TransactionID string `json:"tid"`
	NationalID    string `json:"nnin_altsub"` // national identity number; needs the scope nnin_altsub
}
