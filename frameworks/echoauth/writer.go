package echoauth

import (
	"net/http"

	"github.com/labstack/echo/v5"
)

// knownWriter is a writer that tells whether the answer is under way.
type knownWriter struct {
	http.ResponseWriter
	c *echo.Context
}

// Written is for [latchkey.Auth.AccessToken].
func (w knownWriter) Written() bool { return isCommitted(w.c) }
