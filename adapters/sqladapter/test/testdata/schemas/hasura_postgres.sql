CREATE TABLE provider_type (
	value text PRIMARY KEY
);
INSERT INTO provider_type (value) VALUES ('credentials'), ('email'), ('oauth'), ('oidc');
CREATE TABLE users (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	name text,
	email text NOT NULL UNIQUE,
	"emailVerified" timestamptz,
	image text
);
CREATE TABLE accounts (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	type text NOT NULL REFERENCES provider_type (value),
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at bigint,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	"userId" uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE sessions (
	id uuid DEFAULT gen_random_uuid(),
	"sessionToken" text PRIMARY KEY,
	"userId" uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	expires timestamptz NOT NULL
);
CREATE TABLE verification_tokens (
	token text PRIMARY KEY,
	identifier text NOT NULL,
	expires timestamptz NOT NULL
);
