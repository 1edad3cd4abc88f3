// Package arch holds tests about the shape of the repository: who may import
// whom (deps.txt), and what the go.mod files may say.
package arch
