ALTER TABLE users ADD COLUMN IF NOT EXISTS created timestamptz;

ALTER TABLE users ADD COLUMN IF NOT EXISTS name_key text COLLATE "C";

ALTER TABLE users ADD COLUMN IF NOT EXISTS provisioned timestamptz;

CREATE INDEX IF NOT EXISTS users_created ON users (created, id);

CREATE INDEX IF NOT EXISTS users_name_key ON users (name_key, id);

CREATE INDEX IF NOT EXISTS users_email_prefix ON users (email COLLATE "C", id);

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS actor text;

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS actor_session text;

CREATE INDEX IF NOT EXISTS sessions_actor_session ON sessions (actor_session);

CREATE TABLE IF NOT EXISTS suspensions (
	user_id {users.id} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	since timestamptz NOT NULL,
	until timestamptz,
	reason text,
	actor text
);

CREATE TABLE IF NOT EXISTS activities (
	id text PRIMARY KEY,
	user_id {users.id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	time timestamptz NOT NULL,
	type text NOT NULL,
	provider text,
	user_agent text,
	actor_kind text
);

CREATE INDEX IF NOT EXISTS activities_user ON activities (user_id, time);

CREATE INDEX IF NOT EXISTS activities_time ON activities (time);
