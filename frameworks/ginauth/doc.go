// Package ginauth is Latchkey in the types of Gin: routes, guards, sessions and form
// actions.
//
//	auth, err := latchkey.New(latchkey.Config{…})
//	…
//	sessions := ginauth.New(auth)
//	router := gin.Default()
//	sessions.Mount(router) // the routes, /auth/signin and so on
//
//	members := router.Group("/members", sessions.RequireSession())
//	members.GET("/", func(c *gin.Context) {
//		s, _ := sessions.Session(c)
//		c.String(http.StatusOK, "Hello, %s", s.User.Name)
//	})
//
// [Auth.Middleware] is another way to mount it, for a whole site: with
// router.Use it answers the routes of the library in front of all others.
//
// The session is read when it is first asked for, once a request, and its renewed
// cookie goes into the answer, so look before writing the body. Templates get
// their forms and buttons from [Auth.UI]:
//
//	page, err := sessions.UI(c)
//	…
//	c.HTML(http.StatusOK, "home.html", gin.H{"UI": page})
//
// Whatever takes the context of a request finds the session there, as on net/http:
// latchkey.SessionFrom(c.Request.Context()).
package ginauth
