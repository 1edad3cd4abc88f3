package fault

// Detail names a failure more closely than its [ErrorType] does, such as
// "state.missing". The list is closed; docs/troubleshooting.md explains each.
type Detail string
