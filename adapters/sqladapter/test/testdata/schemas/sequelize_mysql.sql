CREATE TABLE users (
	id char(36) BINARY PRIMARY KEY,
	name varchar(255),
	email varchar(255) UNIQUE,
	email_verified datetime,
	image varchar(255)
);
CREATE TABLE accounts (
	id char(36) BINARY PRIMARY KEY,
	user_id char(36) BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	type varchar(255) NOT NULL,
	provider varchar(255) NOT NULL,
	provider_account_id varchar(255) NOT NULL,
	expires_at integer,
	refresh_token varchar(255),
	access_token varchar(255),
	token_type varchar(255),
	scope varchar(255),
	id_token varchar(255),
	session_state varchar(255)
);
CREATE TABLE sessions (
	id char(36) BINARY PRIMARY KEY,
	user_id char(36) BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	expires datetime NOT NULL,
	session_token varchar(255) NOT NULL UNIQUE
);
CREATE TABLE verification_tokens (
	token varchar(255) PRIMARY KEY NOT NULL,
	expires datetime NOT NULL,
	identifier varchar(255) NOT NULL
);
