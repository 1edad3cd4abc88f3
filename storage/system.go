package storage

// SystemAdapter is an adapter that can name its database, for traces and metrics.
type SystemAdapter interface {
	// DBSystem returns the name in the form of db.system.name of OpenTelemetry, such as
	// "postgresql". It is called once.
	DBSystem() string
}
