CREATE TABLE IF NOT EXISTS users (
	id text PRIMARY KEY NOT NULL,
	name text,
	email text,
	"emailVerified" integer,
	image text,
	extra text
);

CREATE UNIQUE INDEX IF NOT EXISTS users_email ON users (email);

CREATE TABLE IF NOT EXISTS accounts (
	id text PRIMARY KEY NOT NULL,
	"userId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	type text NOT NULL,
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at integer,
	id_token text,
	scope text,
	session_state text,
	token_type text,
	authorization_details text,
	token_extra text,
	extra text,
	email text,
	email_vouched integer
);

CREATE UNIQUE INDEX IF NOT EXISTS accounts_provider ON accounts (provider, "providerAccountId");

CREATE INDEX IF NOT EXISTS accounts_user ON accounts ("userId");

CREATE TABLE IF NOT EXISTS sessions (
	id text PRIMARY KEY NOT NULL,
	"userId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	"sessionToken" text NOT NULL,
	expires integer NOT NULL,
	created integer,
	user_agent text,
	tenant text,
	provider text,
	provider_sid text,
	provider_sub text,
	provider_issued integer,
	sealed text,
	proved integer,
	amr text,
	acr text
);

CREATE UNIQUE INDEX IF NOT EXISTS sessions_token ON sessions ("sessionToken");

CREATE INDEX IF NOT EXISTS sessions_user ON sessions ("userId");

CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires);

CREATE INDEX IF NOT EXISTS sessions_provider_sid ON sessions (provider_sid);

CREATE INDEX IF NOT EXISTS sessions_provider_sub ON sessions (provider_sub);

CREATE TABLE IF NOT EXISTS verification_token (
	identifier text NOT NULL,
	token text NOT NULL,
	expires integer NOT NULL,
	purpose text,
	PRIMARY KEY (identifier, token)
);

CREATE INDEX IF NOT EXISTS verification_token_expires ON verification_token (expires);

CREATE TABLE IF NOT EXISTS authenticators (
	"credentialID" text PRIMARY KEY NOT NULL,
	"userId" text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	"providerAccountId" text NOT NULL,
	"credentialPublicKey" text NOT NULL,
	counter integer NOT NULL,
	"credentialDeviceType" text NOT NULL,
	"credentialBackedUp" integer NOT NULL,
	transports text,
	name text,
	aaguid text,
	created integer,
	used integer
);

CREATE INDEX IF NOT EXISTS authenticators_user ON authenticators ("userId");

CREATE TABLE IF NOT EXISTS revocations (
	key text PRIMARY KEY NOT NULL,
	at integer NOT NULL,
	expires integer NOT NULL
);

CREATE INDEX IF NOT EXISTS revocations_expires ON revocations (expires);
