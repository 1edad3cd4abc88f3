// Command sbom writes the bill of materials of a program that the go command built, as
// SPDX 2.3 JSON, from the build information in the program. It has the modules with
// their versions and hashes, and nothing of the machine or the moment.
//
//	sbom -modules $(go env GOMODCACHE) latchkey >latchkey.spdx.json
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
)

// document is what SPDX 2.3 calls a document, as far as it is needed.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []pkg          `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	Name             string     `json:"name"`
	SPDXID           string     `json:"SPDXID"`
	VersionInfo      string     `json:"versionInfo"`
	DownloadLocation string     `json:"downloadLocation"`
	FilesAnalyzed    bool       `json:"filesAnalyzed"`
	LicenseConcluded string     `json:"licenseConcluded"`
	LicenseDeclared  string     `json:"licenseDeclared"`
	CopyrightText    string     `json:"copyrightText"`
	Checksums        []checksum `json:"checksums,omitempty"`
	ExternalRefs     []ref      `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm     string `json:"algorithm"`
	ChecksumValue string `json:"checksumValue"`
}

type ref struct {
	ReferenceCategory string `json:"referenceCategory"`
	ReferenceType     string `json:"referenceType"`
	ReferenceLocator  string `json:"referenceLocator"`
}

type relationship struct {
	SPDXElementID      string `json:"spdxElementId"`
	RelationshipType   string `json:"relationshipType"`
	RelatedSPDXElement string `json:"relatedSpdxElement"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("sbom: ")
	modules := flag.String("modules", "", "the module cache, a `folder`: licences are read from it")
	created := flag.String("created", "1970-01-01T00:00:00Z", "the date of the version's tag, in `UTC`")
	flag.Parse()
	for _, name := range flag.Args() {
		if err := describe(name, *modules, *created); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// describe prints the document of one program.
func describe(name, modules, created string) error {
	program, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(program)
	base := filepath.Base(name)
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: base,
		DocumentNamespace: "https://" + info.Main.Path + "/sbom/" + base + "/" + hex.EncodeToString(sum[:]),
		CreationInfo:      creation{created, []string{"Tool: latchkey-sbom"}},
	}
	root := pkg{
		Name: base, SPDXID: "SPDXRef-program", VersionInfo: info.Main.Version, DownloadLocation: "NOASSERTION",
		LicenseConcluded: "NOASSERTION", LicenseDeclared: "NOASSERTION", CopyrightText: "NOASSERTION",
		Checksums: []checksum{{"SHA256", hex.EncodeToString(sum[:])}},
	}
	d.Packages = append(d.Packages, root)
	d.Relationships = append(d.Relationships, relationship{d.SPDXID, "DESCRIBES", root.SPDXID})
	parts := append([]*debug.Module{&info.Main}, info.Deps...)
	parts = append(parts, &debug.Module{Path: "std", Version: info.GoVersion})
	for i, m := range parts {
		for m.Replace != nil {
			m = m.Replace
		}
		p, err := packageOf(m, fmt.Sprintf("SPDXRef-module-%d", i), modules)
		if err != nil {
			return err
		}
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{root.SPDXID, "CONTAINS", p.SPDXID})
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "\t")
	return out.Encode(d)
}

func packageOf(m *debug.Module, id, modules string) (pkg, error) {
	p := pkg{
		Name: m.Path, SPDXID: id, VersionInfo: m.Version, DownloadLocation: "NOASSERTION",
		LicenseConcluded: "NOASSERTION", LicenseDeclared: "NOASSERTION", CopyrightText: "NOASSERTION",
	}
	if m.Path == "std" {
		p.LicenseDeclared = "BSD-3-Clause"
		return p, nil
	}
	p.ExternalRefs = []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(m.Path) + "@" + m.Version}}
	// The hash of go.sum is the SHA-256 of a list of files and their hashes.
	if of, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		sum, err := base64.StdEncoding.DecodeString(of)
		if err != nil {
			return p, fmt.Errorf("the hash of %s: %w", m.Path, err)
		}
		p.Checksums = []checksum{{"SHA256", hex.EncodeToString(sum)}}
	}
	var err error
	p.LicenseDeclared, err = licenceOf(m, modules)
	return p, err
}

// licences tell the usual licences apart by a sentence of each.
var licences = []struct {
	id   string
	says *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*[Nn]either the name`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute this software`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
}

// licenceOf returns the SPDX name of a module's licence, or NOASSERTION.
func licenceOf(m *debug.Module, modules string) (string, error) {
	if modules == "" {
		return "NOASSERTION", nil
	}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(modules, filepath.FromSlash(escaped)+"@"+m.Version)
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "license"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		for _, l := range licences {
			if l.says.Match(text) {
				return l.id, nil
			}
		}
	}
	return "NOASSERTION", nil
}
