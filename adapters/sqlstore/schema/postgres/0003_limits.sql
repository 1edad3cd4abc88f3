CREATE TABLE IF NOT EXISTS limits (
	key text PRIMARY KEY,
	full_at timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS used_values (
	key text PRIMARY KEY,
	expires timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS used_values_expires ON used_values (expires);
