CREATE TABLE IF NOT EXISTS limits (
	key text PRIMARY KEY NOT NULL,
	full_at integer NOT NULL
);

CREATE INDEX IF NOT EXISTS limits_full_at ON limits (full_at);

CREATE TABLE IF NOT EXISTS used_values (
	key text PRIMARY KEY NOT NULL,
	expires integer NOT NULL
);

CREATE INDEX IF NOT EXISTS used_values_expires ON used_values (expires);
