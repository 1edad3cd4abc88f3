package main

import (
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// environment has variables as NAME=value. It never changes.
type environment []string

// get returns the value of a variable, or "" if it is not set. Of several values it takes
// the last one that is not empty.
func (e environment) get(name string) string {
	for _, line := range slices.Backward(e) {
		if key, value, _ := strings.Cut(line, "="); key == name && value != "" {
			return value
		}
	}
	return ""
}

// names returns the names of all variables that are not empty, sorted.
func (e environment) names() []string {
	var names []string
	for _, line := range e {
		if name, value, _ := strings.Cut(line, "="); value != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// with returns e and the variables of a file. A variable that e has, and that is not
// empty, wins. With an empty name of the file, with returns e.
func (e environment) with(file string) (environment, error) {
	if file == "" {
		return e, nil
	}
	read, err := readEnvFile(file)
	if err != nil {
		return nil, err
	}
	return append(read, e...), nil
}

// The variables that have secrets, in the order in which rotation takes them.
var secretNames = []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3"}

// formerSecretName is read where AUTH_SECRET is not set.
const formerSecretName = "NEXTAUTH_SECRET"

// namedSecret is a secret and the variable it comes from.
type namedSecret struct{ name, value string }

// secrets returns the secrets that a site with this environment uses, newest first, each
// with its variable. Without a secret the list is empty.
func (e environment) secrets() []namedSecret {
	var list []namedSecret
	names := append(slices.Clone(secretNames), formerSecretName)
	for _, value := range (latchkey.Config{}).WithEnv(e.get).Secrets {
		i := slices.IndexFunc(names, func(name string) bool { return e.get(name) == value })
		if i < 0 {
			continue // the library reads a variable that this list lacks
		}
		list = append(list, namedSecret{names[i], value})
		names = slices.Delete(names, i, i+1)
	}
	return list
}
