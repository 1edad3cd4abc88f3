ALTER TABLE users ADD COLUMN created integer;

ALTER TABLE users ADD COLUMN name_key text;

ALTER TABLE users ADD COLUMN provisioned integer;

CREATE INDEX IF NOT EXISTS users_created ON users (created, id);

CREATE INDEX IF NOT EXISTS users_name_key ON users (name_key, id);

ALTER TABLE sessions ADD COLUMN actor text;

ALTER TABLE sessions ADD COLUMN actor_session text;

CREATE INDEX IF NOT EXISTS sessions_actor_session ON sessions (actor_session);

CREATE TABLE IF NOT EXISTS suspensions (
	user_id {users.id} NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
	since integer NOT NULL,
	until integer,
	reason text,
	actor text
);

CREATE TABLE IF NOT EXISTS activities (
	id text PRIMARY KEY NOT NULL,
	user_id {users.id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	time integer NOT NULL,
	type text NOT NULL,
	provider text,
	user_agent text,
	actor_kind text
);

CREATE INDEX IF NOT EXISTS activities_user ON activities (user_id, time);

CREATE INDEX IF NOT EXISTS activities_time ON activities (time);
