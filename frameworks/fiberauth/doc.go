// Package fiberauth is Latchkey in the types of Fiber v3: routes, guards, sessions
// and form actions as a [fiber.Handler], everything else as a call with a
// [fiber.Ctx]. Nothing goes through net/http.
//
//	auth, err := latchkey.New(latchkey.Config{…})
//	…
//	site := fiberauth.New(auth)
//	app := fiber.New(fiber.Config{ReadBufferSize: fiberauth.ReadBufferSize})
//	app.Use(recover.New())
//	app.Use(site.Middleware()) // the routes, and the session for all that follows
//	app.Get("/", func(c fiber.Ctx) error {
//		s, err := site.Session(c) // or latchkey.SessionFrom(c.Context())
//		…
//	})
//	members := app.Group("/members", site.RequireSession())
//
// Fiber gives the memory of a request to the next one. What this package hands out
// is its own: sessions, forms and errors may be kept, and the context c.Context()
// may be used by goroutines that outlive the handler. A session that was not
// read by the end of its request reads as signed out afterwards. The [fiber.Ctx] itself is
// only good for its handler, as ever, also as a context.Context: sessions are in
// c.Context() and not in c.
//
// Who a request comes from, and which host it is for, is decided by
// [latchkey.Site] alone; TrustProxy and ProxyHeader of Fiber are not asked.
//
// Guards compare the path with the target that the client asked for, and c.Path(…) may
// rewrite the path at any time. SetRequestURI of fasthttp replaces the target itself, which
// Fiber keeps nowhere else: call it only behind [Auth.Middleware] or [Auth.LoadSession] and
// after the first look at the session. Otherwise a guard takes the new target for the one
// that was asked for, and lets a request pass that an application rewrites to the path of
// one of its pages.
package fiberauth
