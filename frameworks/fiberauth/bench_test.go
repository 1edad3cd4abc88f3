package fiberauth_test

import (
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"
)

// What a request costs that nobody looks at the session of, over bare Fiber.
func BenchmarkOverhead(b *testing.B) {
	auth := newAuth(b)
	page := func(c fiber.Ctx) error { return c.SendString("hello") }
	bare := fiber.New()
	bare.Get("/", page)
	mounted := fiber.New()
	mounted.Use(auth.Middleware())
	mounted.Get("/", page)
	for _, way := range []struct {
		name string
		app  *fiber.App
	}{{"bare", bare}, {"mounted", mounted}} {
		b.Run(way.name, func(b *testing.B) {
			handler := way.app.Handler()
			ctx := &fasthttp.RequestCtx{}
			b.ReportAllocs()
			for b.Loop() {
				ctx.Request.Reset()
				ctx.Response.Reset()
				ctx.Request.Header.SetRequestURI("/")
				ctx.Request.Header.SetHost("app.example")
				ctx.Request.Header.Set("Cookie", "authjs.session-token=eyJhbGciOiJkaXIi; theme=dark")
				handler(ctx)
			}
		})
	}
}
