CREATE TABLE "user" (
	id text PRIMARY KEY NOT NULL,
	name text,
	email text DEFAULT '' UNIQUE,
	email_verified datetime,
	image text
);
CREATE TABLE account (
	id text PRIMARY KEY NOT NULL,
	user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	type text NOT NULL,
	provider text NOT NULL,
	provider_account_id text NOT NULL,
	expires_at integer,
	refresh_token text,
	access_token text,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	UNIQUE (provider, provider_account_id)
);
CREATE TABLE session (
	id text PRIMARY KEY NOT NULL,
	user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	expires datetime NOT NULL,
	session_token text NOT NULL UNIQUE
);
CREATE TABLE verification_token (
	token text PRIMARY KEY NOT NULL,
	expires datetime NOT NULL,
	identifier text NOT NULL,
	UNIQUE (token, identifier)
);
