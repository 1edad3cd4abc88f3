CREATE TABLE "User" (
	id varchar(255) PRIMARY KEY,
	name varchar(255),
	email varchar(255) NOT NULL UNIQUE,
	"emailVerified" varchar(255),
	image varchar(255)
);
CREATE TABLE "Account" (
	id varchar(255) PRIMARY KEY,
	"userId" varchar(255) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
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
CREATE TABLE "Session" (
	id varchar(255) PRIMARY KEY,
	"userId" varchar(255) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	"sessionToken" varchar(255) NOT NULL UNIQUE,
	expires varchar(255) NOT NULL
);
CREATE TABLE "VerificationToken" (
	identifier varchar(255) NOT NULL,
	token varchar(255) NOT NULL UNIQUE,
	expires varchar(255) NOT NULL
);
CREATE INDEX "Account_userId_index" ON "Account" ("userId");
