// Package echoauth is Latchkey in the types of Echo v5: routes, guards, sessions and form
// actions. For Echo v4 see docs/frameworks.md.
//
//	auth, err := latchkey.New(latchkey.Config{…})
//	…
//	sessions := echoauth.New(auth)
//	e := echo.New()
//	sessions.Mount(e) // the routes, /auth/signin and so on
//
//	members := e.Group("/members", sessions.RequireSession())
//	members.GET("", func(c *echo.Context) error {
//		s, err := sessions.Session(c)
//		if err != nil {
//			return err
//		}
//		return c.String(http.StatusOK, "Hello, "+s.User.Name)
//	})
//
// [Auth.Middleware] is another way to mount it, for a whole site: with e.Use it
// answers the routes of the library in front of all others.
//
// The session is read when it is first asked for, once a request, and its renewed
// cookie goes into the answer, so look before writing the body. Templates get
// their forms and buttons from [Auth.UI]:
//
//	page, err := sessions.UI(c)
//	…
//	return c.Render(http.StatusOK, "home.html", map[string]any{"UI": page})
//
// Whatever takes the context of a request finds the session there, as on net/http:
// latchkey.SessionFrom(c.Request().Context()).
package echoauth
