package main

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"
	"github.com/labstack/echo/v5"

	"github.com/latchkeyhq/latchkey/frameworks/echoauth"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
)

// frameworks serve the app until the listener is closed, each with its own router,
// by the value of FRAMEWORK. Whatever is below the base path is the library's, as
// the suite wants it, and what is no route of it as well.
var frameworks = map[string]func(*app, net.Listener) error{
	"nethttp": func(a *app, l net.Listener) error { return serveHTTP(l, a) },
	"chi":     serveChi,
	"gin":     serveGin,
	"echo":    serveEcho,
	"fiber":   serveFiber,
}

// chosen returns the function of frameworks called name, or an error for an unknown name.
func chosen(name string) (func(*app, net.Listener) error, error) {
	serve, ok := frameworks[name]
	if !ok {
		return nil, fmt.Errorf("FRAMEWORK %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(frameworks)), ", "))
	}
	return serve, nil
}

func serveHTTP(l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, MaxHeaderBytes: 256 << 10, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

func serveChi(a *app, l net.Listener) error {
	router := chi.NewRouter()
	router.Handle(a.basePath, a.auth)
	router.Handle(a.basePath+"/*", a.auth)
	router.HandleFunc("/_test/*", a.test)
	router.HandleFunc("/", home)
	for _, path := range append(pages, "/custom/*") {
		router.HandleFunc(path, page)
	}
	return serveHTTP(l, router)
}

func serveGin(a *app, l net.Listener) error {
	gin.SetMode(gin.ReleaseMode)
	router, sessions := gin.New(), ginauth.New(a.auth)
	router.RedirectTrailingSlash = false // the library takes a slash at the end
	sessions.Mount(router.Group(a.basePath))
	library := sessions.Handler()
	router.NoRoute(func(c *gin.Context) {
		if a.isBelow(c.Request.URL.EscapedPath()) {
			library(c)
		}
	})
	router.Any("/_test/*path", gin.WrapF(a.test))
	router.Any("/", gin.WrapF(home))
	for _, path := range append(pages, "/custom/*path") {
		router.Any(path, gin.WrapF(page))
	}
	return serveHTTP(l, router)
}

func serveEcho(a *app, l net.Listener) error {
	router, sessions := echo.New(), echoauth.New(a.auth)
	sessions.Mount(router.Group(a.basePath), a.basePath)
	router.Any(a.basePath, sessions.Handler())
	router.RouteNotFound(a.basePath+"/*", sessions.Handler())
	router.Any("/_test/*", echo.WrapHandler(http.HandlerFunc(a.test)))
	router.Any("/", echo.WrapHandler(http.HandlerFunc(home)))
	for _, path := range append(pages, "/custom/*") {
		router.Any(path, echo.WrapHandler(http.HandlerFunc(page)))
	}
	return serveHTTP(l, router)
}

// serveFiber serves the library's routes without net/http. Those that the suite asks of the
// app itself go through an adaptor to the same handlers as with other frameworks.
func serveFiber(a *app, l net.Listener) error {
	router, sessions := fiber.New(fiber.Config{ReadBufferSize: 256 << 10}), fiberauth.New(a.auth)
	sessions.Mount(router)
	router.Use(a.basePath, sessions.Handler()) // and what is no route
	router.All("/_test/*", adaptor.HTTPHandlerFunc(a.test))
	router.All("/", adaptor.HTTPHandlerFunc(home))
	for _, path := range append(pages, "/custom/*") {
		router.All(path, adaptor.HTTPHandlerFunc(page))
	}
	return router.Listener(l, fiber.ListenConfig{DisableStartupMessage: true})
}
