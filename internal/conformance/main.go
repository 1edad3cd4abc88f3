// Command conformance is the app that the black-box suite of the wire contract drives. Its
// environment alone configures it. It keeps everything in memory, or where STORE says. The
// suite's page on the contract says what each variable means.
package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	serve, err := chosen(env("FRAMEWORK", "nethttp"))
	if err != nil {
		quit(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+env("PORT", "3000"))
	if err != nil {
		quit(err)
	}
	store, err := newBackend(ctx)
	if err != nil {
		quit(err)
	}
	app := newApp(store)
	go func() {
		if err := serve(app, listener); err != nil {
			quit(err)
		}
	}()
	<-ctx.Done()
}

func quit(err error) {
	slog.Error("conformance: " + err.Error())
	os.Exit(1)
}

// env returns the value of the variable name, or otherwise if that is unset or empty.
func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func isOn(name string) bool { return os.Getenv(name) == "1" }
