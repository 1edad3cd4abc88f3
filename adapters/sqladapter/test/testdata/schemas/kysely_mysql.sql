CREATE TABLE "User" (
	id varchar(36) PRIMARY KEY DEFAULT (uuid()),
	name text,
	email varchar(255) NOT NULL UNIQUE,
	"emailVerified" datetime(3),
	image text
);
CREATE TABLE "Account" (
	id varchar(36) PRIMARY KEY DEFAULT (uuid()),
	"userId" varchar(36) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	type varchar(255) NOT NULL,
	provider varchar(255) NOT NULL,
	"providerAccountId" varchar(255) NOT NULL,
	expires_at bigint,
	refresh_token text,
	access_token text,
	token_type text,
	scope text,
	id_token text,
	session_state text
);
CREATE TABLE "Session" (
	id varchar(36) PRIMARY KEY DEFAULT (uuid()),
	"userId" varchar(36) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	"sessionToken" varchar(255) NOT NULL UNIQUE,
	expires datetime(3) NOT NULL
);
CREATE TABLE "VerificationToken" (
	identifier varchar(255) NOT NULL,
	token varchar(255) NOT NULL UNIQUE,
	expires datetime(3) NOT NULL
);
CREATE INDEX "Account_userId_index" ON "Account" ("userId");
