// Command conformance is the app that the black-box suite of the wire contract
// drives. It is configured by its environment alone and keeps everything in
// memory; the suite's own page on the contract says what each variable means.
package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:"+env("PORT", "3000"))
	if err != nil {
		slog.Error("conformance: " + err.Error())
		os.Exit(1)
	}
	server := &http.Server{Handler: newApp(), MaxHeaderBytes: 256 << 10, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	_ = server.Serve(listener)
}

// env is a variable, or what stands for it when it is unset or empty.
func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func isOn(name string) bool { return os.Getenv(name) == "1" }
