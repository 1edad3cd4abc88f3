CREATE TABLE users (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	name varchar,
	email varchar UNIQUE,
	"emailVerified" varchar,
	image varchar
);
CREATE TABLE accounts (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	"userId" uuid NOT NULL REFERENCES users (id),
	type varchar NOT NULL,
	provider varchar NOT NULL,
	"providerAccountId" varchar NOT NULL,
	expires_at bigint,
	refresh_token varchar,
	access_token varchar,
	token_type varchar,
	scope varchar,
	id_token varchar,
	session_state varchar
);
CREATE TABLE sessions (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	"sessionToken" varchar NOT NULL UNIQUE,
	"userId" uuid NOT NULL REFERENCES users (id),
	expires varchar NOT NULL
);
CREATE TABLE verification_tokens (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	token varchar NOT NULL,
	identifier varchar NOT NULL,
	expires varchar NOT NULL
);
