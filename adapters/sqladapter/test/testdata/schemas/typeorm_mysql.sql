CREATE TABLE users (
	id varchar(36) PRIMARY KEY,
	name varchar(255),
	email varchar(255) UNIQUE,
	"emailVerified" varchar(255),
	image varchar(255)
);
CREATE TABLE accounts (
	id varchar(36) PRIMARY KEY,
	"userId" varchar(36) NOT NULL REFERENCES users (id),
	type varchar(255) NOT NULL,
	provider varchar(255) NOT NULL,
	"providerAccountId" varchar(255) NOT NULL,
	expires_at bigint,
	refresh_token varchar(255),
	access_token varchar(255),
	token_type varchar(255),
	scope varchar(255),
	id_token varchar(255),
	session_state varchar(255)
);
CREATE TABLE sessions (
	id varchar(36) PRIMARY KEY,
	"sessionToken" varchar(255) NOT NULL UNIQUE,
	"userId" varchar(36) NOT NULL REFERENCES users (id),
	expires varchar(255) NOT NULL
);
CREATE TABLE verification_tokens (
	id varchar(36) PRIMARY KEY,
	token varchar(255) NOT NULL,
	identifier varchar(255) NOT NULL,
	expires varchar(255) NOT NULL
);
