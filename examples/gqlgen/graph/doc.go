// Package graph is what gqlgen makes of schema.graphqls.
package graph
