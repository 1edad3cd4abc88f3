// Package client holds the browser client: an ES module without dependencies,
// served as it is written, and its types.
package client

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

//go:embed latchkey.js latchkey.d.ts passkeys.js
var sources embed.FS

// File is one of the files as browsers get it.
type File struct {
	Name   string // with the hash of its content in it
	Type   string // media type
	Body   []byte
	Zipped []byte // Body by gzip
	Tag    string // strong ETag of Body
}

// Names of files.
const (
	Module   = "latchkey.js" // the client
	Types    = "latchkey.d.ts"
	Passkeys = "passkeys.js" // the script of pages with forms for passkeys
)

// files are read when they are first asked for.
var files = sync.OnceValue(func() map[string]*File {
	module := newFile(Module, script, read(Module))
	pages := bytes.ReplaceAll(read(Passkeys), []byte("./"+Module), []byte("./"+module.Name))
	return map[string]*File{
		Module:   module,
		Types:    newFile(Types, "application/typescript; charset=utf-8", read(Types)),
		Passkeys: newFile(Passkeys, script, pages),
	}
})

const script = "text/javascript; charset=utf-8"

func read(name string) []byte {
	body, err := sources.ReadFile(name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return body
}

// newFile returns a File whose name has a hash of body in front of the extension.
func newFile(name, mediaType string, body []byte) *File {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:8])
	stem, ext, _ := strings.Cut(name, ".")
	return &File{Name: stem + "-" + hash + "." + ext, Type: mediaType, Body: body, Zipped: zip(body), Tag: `"` + hash + `"`}
}

// zip returns body compressed by gzip.
func zip(body []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = w.Write(body)                                  // into memory
	_ = w.Close()
	return b.Bytes()
}

var hashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9a-f]{16}\.`) })

// Find returns the file of a name, with or without a hash, or nil if there is none. The
// hash may be one of another version of the library: the file is still the one of this
// version. fixed reports whether the hash is that of the file, so that browsers may
// cache it for ever. Do not change the file.
func Find(name string) (f *File, fixed bool) {
	f = files()[hashed().ReplaceAllString(name, ".")]
	return f, f != nil && f.Name == name
}

// Name returns the name of a file with the hash of its content, or "" if there is no
// such file.
func Name(name string) string {
	if f, _ := Find(name); f != nil {
		return f.Name
	}
	return ""
}
