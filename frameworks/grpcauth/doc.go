// Package grpcauth authenticates and authorizes the callers of gRPC servers with Latchkey.
//
//	auth, err := latchkey.New(latchkey.Config{
//		Session: latchkey.SessionConfig{Bearer: true}, …
//	})
//	…
//	guard := grpcauth.New(auth).RequireSession("/grpc.health.v1.Health/")
//	server := grpc.NewServer(
//		grpc.ChainUnaryInterceptor(guard.Unary),
//		grpc.ChainStreamInterceptor(guard.Stream),
//	)
//
// Methods find the session in their context, as handlers of net/http do:
//
//	s := latchkey.SessionFrom(ctx)
//
// It is read when it is first asked for, from the metadata of the call: from
// authorization: Bearer, where SessionConfig.Bearer is on, or from the session
// cookie, which a proxy for gRPC-Web passes on. A renewed cookie goes into the
// header of the answer: of unary calls always, of streams as long as nothing has
// been sent.
//
// Calls that are refused get Unauthenticated or PermissionDenied, with a
// google.rpc.ErrorInfo that says why: reason NO_SESSION, PROOF_NEEDED or ACCESS_DENIED,
// domain latchkey. A fault, such as a store that is down, is Unavailable.
//
// People sign in over HTTP: serve the routes of auth there, and see docs/bearer.md
// for how an app gets its token.
package grpcauth
