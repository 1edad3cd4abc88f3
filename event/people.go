package event

import "context"

// The types of [Event] about people, told of what administrators and users do with
// users.
const (
	UserSuspended Type = "user.suspended" // kept out, and signed out everywhere
	UserRestored  Type = "user.restored"  // let in again
	UserExported  Type = "user.exported"
	UserErased    Type = "user.erased"
	UserViewed    Type = "user.viewed"   // by an administrator
	UserSearched  Type = "user.searched" // by an administrator
	// ImpersonationStarted tells that an administrator, By, opened a session of the user.
	// The reason that the administrator gave is not in the event.
	ImpersonationStarted Type = "impersonation.started"
	ImpersonationEnded   Type = "impersonation.ended"   // by a sign-out
	ImpersonationRefused Type = "impersonation.refused" // a link, or a change that only the user may make
	AccessRefused        Type = "access.refused"        // an administrator may not do this, or a user is no administrator
)

// ActorAdmin is the kind of [Actor] of an administrator, with the administrator's id.
const ActorAdmin ActorKind = "admin"

type actorKey struct{}

// WithActor returns a context in which calls of latchkey.Users name a as the actor of their
// events. Without it the actor is the system.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorIn returns the actor that WithActor has set. Without one it is the system.
func ActorIn(ctx context.Context) Actor {
	if a, set := ctx.Value(actorKey{}).(Actor); set {
		return a
	}
	return Actor{Kind: ActorSystem}
}
