CREATE TABLE IF NOT EXISTS factors (
	id text PRIMARY KEY NOT NULL,
	user_id {users.id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	kind text NOT NULL,
	name text NOT NULL,
	secret text NOT NULL,
	step integer NOT NULL,
	failures integer NOT NULL,
	created integer NOT NULL,
	used integer
);

CREATE INDEX IF NOT EXISTS factors_user ON factors (user_id);

CREATE TABLE IF NOT EXISTS recovery_codes (
	user_id {users.id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash text NOT NULL,
	PRIMARY KEY (user_id, hash)
);

CREATE TABLE IF NOT EXISTS challenges (
	id text PRIMARY KEY NOT NULL,
	purpose text NOT NULL,
	tenant text,
	user_id text,
	identifier text,
	data text NOT NULL,
	tries integer NOT NULL,
	created integer NOT NULL,
	expires integer NOT NULL
);

CREATE INDEX IF NOT EXISTS challenges_user ON challenges (user_id);

CREATE INDEX IF NOT EXISTS challenges_identifier ON challenges (purpose, identifier);

CREATE INDEX IF NOT EXISTS challenges_expires ON challenges (expires);

CREATE TABLE IF NOT EXISTS browsers (
	id text NOT NULL,
	user_id {users.id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	public_id text NOT NULL,
	created integer NOT NULL,
	seen integer NOT NULL,
	trusted integer,
	expires integer NOT NULL,
	user_agent text,
	PRIMARY KEY (id, user_id)
);

CREATE UNIQUE INDEX IF NOT EXISTS browsers_public ON browsers (public_id);

CREATE INDEX IF NOT EXISTS browsers_user ON browsers (user_id);

CREATE INDEX IF NOT EXISTS browsers_expires ON browsers (expires);

CREATE TABLE IF NOT EXISTS passwords (
	user_id {users.id} NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
	hash text NOT NULL,
	failures integer NOT NULL,
	renew integer NOT NULL,
	created integer NOT NULL,
	changed integer NOT NULL
);
