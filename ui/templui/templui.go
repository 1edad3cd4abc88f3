package templui

import (
	"context"
	"io"
	"reflect"

	"github.com/a-h/templ"

	"github.com/latchkeyhq/latchkey/ui"
)

// SignIn renders a form that signs in with a provider, or, without one, leads
// to the sign-in page. Children take the place of its button. Rendering fails
// for an unknown provider.
func SignIn(page *ui.Page, props ui.SignInProps) templ.Component {
	f, err := page.SignInForm(props)
	if err != nil {
		return templ.ComponentFunc(func(context.Context, io.Writer) error { return err })
	}
	return withSlot(f)
}

// SignOut renders a form that signs out. Children take the place of its button.
func SignOut(page *ui.Page, props ui.SignOutProps) templ.Component {
	return withSlot(page.SignOutForm(props))
}

// SignInBox renders a form for each configured provider.
func SignInBox(page *ui.Page, props ui.BoxProps) templ.Component { return box(page.Box(props)) }

// UserButton renders a link to sign in, or the signed-in user with links to
// settings and sign-out.
func UserButton(page *ui.Page, props ui.UserProps) templ.Component { return user(page.User(props)) }

// withSlot renders a form. The children of the component, if it has any, take the place of
// the form's button.
func withSlot(f *ui.Form) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return form(f, hasChildren(ctx)).Render(ctx, w)
	})
}

// hasChildren reports whether the caller of the component has put something
// into it.
func hasChildren(ctx context.Context) bool {
	given, none := reflect.ValueOf(templ.GetChildren(ctx)), reflect.ValueOf(templ.NopComponent)
	return given.Kind() != reflect.Func || given.Pointer() != none.Pointer()
}
