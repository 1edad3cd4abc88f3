// Package templui has the components of package ui for templ: a form for each
// provider, a sign-out button, a box with every way to sign in, and a user button.
//
//	templ login(page *ui.Page) {
//		@templui.SignInBox(page, ui.BoxProps{})
//		@templui.SignIn(page, ui.SignInProps{Provider: "github"}) {
//			<button class="mine">GitHub</button>
//		}
//	}
//
// They make the same HTML as package ui does. What that package says of policies,
// classes and the style sheet holds here, too.
package templui

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate
