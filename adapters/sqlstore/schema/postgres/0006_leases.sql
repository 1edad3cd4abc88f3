CREATE TABLE IF NOT EXISTS leases (
	key text PRIMARY KEY,
	holder text NOT NULL,
	until timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS leases_until ON leases (until);
