// Package frameworks has tests alone: the framework suite drives the mountings that
// need no module of their own, which are net/http, chi, gorilla/mux and, by its
// wrappers, Echo v4. They are those of docs/frameworks.md.
package frameworks
