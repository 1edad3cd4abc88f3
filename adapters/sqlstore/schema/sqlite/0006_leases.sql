CREATE TABLE IF NOT EXISTS leases (
	key text PRIMARY KEY NOT NULL,
	holder text NOT NULL,
	until integer NOT NULL
);

CREATE INDEX IF NOT EXISTS leases_until ON leases (until);
