CREATE SCHEMA IF NOT EXISTS next_auth;
DROP TABLE IF EXISTS next_auth.sessions, next_auth.accounts, next_auth.users, next_auth.verification_tokens;
CREATE TABLE next_auth.users (
	id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
	name text,
	email text,
	"emailVerified" timestamptz,
	image text,
	CONSTRAINT email_unique UNIQUE (email)
);
CREATE TABLE next_auth.sessions (
	id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
	expires timestamptz NOT NULL,
	"sessionToken" text NOT NULL,
	"userId" uuid REFERENCES next_auth.users (id) ON DELETE CASCADE,
	CONSTRAINT sessionToken_unique UNIQUE ("sessionToken")
);
CREATE TABLE next_auth.accounts (
	id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
	type text NOT NULL,
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at bigint,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	oauth_token_secret text,
	oauth_token text,
	"userId" uuid REFERENCES next_auth.users (id) ON DELETE CASCADE,
	CONSTRAINT provider_unique UNIQUE (provider, "providerAccountId")
);
CREATE TABLE next_auth.verification_tokens (
	identifier text,
	token text PRIMARY KEY,
	expires timestamptz NOT NULL
);
