CREATE TABLE users (
	id varchar PRIMARY KEY NOT NULL,
	name varchar,
	email varchar UNIQUE,
	"emailVerified" varchar,
	image varchar
);
CREATE TABLE accounts (
	id varchar PRIMARY KEY NOT NULL,
	"userId" varchar NOT NULL REFERENCES users (id),
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
	id varchar PRIMARY KEY NOT NULL,
	"sessionToken" varchar NOT NULL UNIQUE,
	"userId" varchar NOT NULL REFERENCES users (id),
	expires varchar NOT NULL
);
CREATE TABLE verification_tokens (
	id varchar PRIMARY KEY NOT NULL,
	token varchar NOT NULL,
	identifier varchar NOT NULL,
	expires varchar NOT NULL
);
