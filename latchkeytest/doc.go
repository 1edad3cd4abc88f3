// Package latchkeytest helps to test what is built with or for Latchkey.
//
//   - [Issuer] is an OpenID Provider in the test's own process. It signs in
//     the person that the test names, counts what it was asked, and misbehaves on demand.
//   - [Authenticator] keeps passkeys and answers for the browser that asks for
//     them, also wrongly on demand.
//   - [CodeApp] is an authenticator app, which shows the code of any time.
//   - [Crowd] is a few hundred users with names in twenty scripts, the same each time.
//   - [Client] is a browser that walks through an application's sign-in, and asks its
//     API as scripts do.
//   - [TestUnlink] tests a promise that an adapter keeps together with the library.
//
// Package storagetest tests adapters alone, and package frameworktest tests
// mountings in web frameworks.
//
// A test of an application needs no account anywhere, and no network but the
// loopback interface:
//
//	func TestProfilePage(t *testing.T) {
//		issuer := latchkeytest.NewIssuer(t)
//		issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada"})
//		browser := latchkeytest.NewClient(t, newApp(issuer.Provider()))
//		browser.SignIn(issuer)
//		if page := browser.Get("/profile"); !strings.Contains(string(page.Body), "Ada") {
//			t.Error("the profile does not show the name")
//		}
//	}
package latchkeytest
