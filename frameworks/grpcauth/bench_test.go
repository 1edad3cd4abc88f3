package grpcauth_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/latchkeyhq/latchkey/frameworks/grpcauth"
)

// What an interceptor adds to a call of which nobody looks at the session. A call
// over TCP takes some 100 µs, in which it would not be seen.
func BenchmarkOverhead(b *testing.B) {
	sessions := grpcauth.New(exampleAuth())
	info := &grpc.UnaryServerInfo{FullMethod: service + "EmptyCall"}
	blind := func(context.Context, any) (any, error) { return struct{}{}, nil }
	ctx := metadata.NewIncomingContext(b.Context(), metadata.Pairs(
		":authority", "app.example", "content-type", "application/grpc", "user-agent", "grpc-go/1.85.0", "authorization", "Bearer x"))
	for name, call := range map[string]grpc.UnaryServerInterceptor{
		"bare": func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			return handler(ctx, req)
		},
		"mounted": sessions.LoadSession().Unary,
		"public":  sessions.RequireSession(service).Unary,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := call(ctx, nil, info, blind); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
