package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// What protoc-gen-go-grpc makes of a .proto with one method; written by hand, so
// that nothing has to be installed.

const whoAmI = "/notes.v1.Notes/WhoAmI"

type notesServer interface {
	WhoAmI(ctx context.Context, in *emptypb.Empty) (*wrapperspb.StringValue, error)
}

var notesService = grpc.ServiceDesc{
	ServiceName: "notes.v1.Notes",
	HandlerType: (*notesServer)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "WhoAmI", Handler: handleWhoAmI}},
}

func handleWhoAmI(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) { //nolint:revive // the signature is gRPC's
	in := new(emptypb.Empty)
	if err := decode(in); err != nil {
		return nil, err
	}
	call := func(ctx context.Context, in any) (any, error) {
		return srv.(notesServer).WhoAmI(ctx, in.(*emptypb.Empty))
	}
	if interceptor == nil {
		return call(ctx, in)
	}
	return interceptor(ctx, in, &grpc.UnaryServerInfo{Server: srv, FullMethod: whoAmI}, call)
}
