package main

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/mailtext"
)

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

// compose is a mail as it goes over the wire (RFC 5322, RFC 2046 section
// 5.1.4).
func compose(to string, m mailtext.Content, at time.Time) ([]byte, error) {
	var raw bytes.Buffer
	parts := multipart.NewWriter(&raw)
	fmt.Fprintf(&raw, "To: %s\r\nSubject: %s\r\nDate: %s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=%s\r\n\r\n",
		to, mime.QEncoding.Encode("utf-8", m.Subject), at.Format(time.RFC1123Z), parts.Boundary())
	for _, part := range [][2]string{{plainText, m.Text}, {htmlText, m.HTML}} {
		w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {part[0]}, "Content-Transfer-Encoding": {"quoted-printable"}})
		if err != nil {
			return nil, err
		}
		encoder := quotedprintable.NewWriter(w)
		if _, err := io.WriteString(encoder, part[1]); err != nil {
			return nil, err
		}
		if err := encoder.Close(); err != nil {
			return nil, err
		}
	}
	err := parts.Close()
	return raw.Bytes(), err
}

func readLetter(name string) (letter, error) {
	f, err := os.Open(name)
	if err != nil {
		return letter{}, err
	}
	defer func() { _ = f.Close() }()
	message, err := mail.ReadMessage(f)
	if err != nil {
		return letter{}, err
	}
	l := letter{ID: strings.TrimSuffix(filepath.Base(name), suffix), To: message.Header.Get("To")}
	if l.Subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		return letter{}, err
	}
	l.Sent, _ = message.Header.Date()
	return l, l.readBody(message)
}

// readBody reads the parts. A mail without them is text.
func (l *letter) readBody(message *mail.Message) error {
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		text, err := io.ReadAll(message.Body)
		l.Text = string(text)
		return err
	}
	parts := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := parts.NextPart() // which undoes quoted-printable
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(content), "\r\n", "\n")
		switch part.Header.Get("Content-Type") {
		case plainText:
			l.Text = text
		case htmlText:
			l.HTML = text
		}
	}
}
