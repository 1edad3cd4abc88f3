// Command ferretdb is a server for clients of MongoDB, for tests: FerretDB 1, which
// keeps everything in the SQLite files of one folder. It writes its URL to the file
// "url" there.
//
// It is a module of its own, outside of the workspace: what it requires would
// otherwise choose versions for everybody.
//
//	ferretdb FOLDER
package main

import (
	"context"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: ferretdb FOLDER")
	}
	if err := serve(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(folder string) error {
	f, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Handler:  "sqlite", SQLiteURL: "file:" + folder + "/",
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	// Clients may come before Run: the port is open.
	made := filepath.Join(folder, "url.new")
	if err := os.WriteFile(made, []byte(f.MongoDBURI()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(made, filepath.Join(folder, "url")); err != nil {
		return err
	}
	return f.Run(context.Background())
}
