package echoauth

import (
	"net/http"

	"github.com/labstack/echo/v5"
)

// knownWriter is a writer that tells whether the response has begun.
type knownWriter struct {
	http.ResponseWriter
	c *echo.Context
}

// Written reports whether the response has begun. [latchkey.Auth.AccessToken] calls it.
func (w knownWriter) Written() bool { return isCommitted(w.c) }
