CREATE TABLE IF NOT EXISTS accounts (
	id integer PRIMARY KEY AUTOINCREMENT,
	user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	type text NOT NULL,
	provider text NOT NULL,
	provider_account_id text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at integer,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	UNIQUE (provider, provider_account_id)
);
CREATE TABLE IF NOT EXISTS sessions (
	id integer PRIMARY KEY AUTOINCREMENT,
	user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	session_token text NOT NULL UNIQUE,
	expires integer NOT NULL
);
CREATE TABLE IF NOT EXISTS verification_tokens (
	identifier text NOT NULL,
	token text NOT NULL,
	expires integer NOT NULL,
	PRIMARY KEY (identifier, token)
);
