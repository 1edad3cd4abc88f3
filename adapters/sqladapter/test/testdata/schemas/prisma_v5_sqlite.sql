CREATE TABLE "User" (
	id text NOT NULL PRIMARY KEY,
	name text,
	email text NOT NULL,
	"emailVerified" datetime,
	image text,
	"createdAt" datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" datetime NOT NULL
);
CREATE UNIQUE INDEX "User_email_key" ON "User" (email);
CREATE TABLE "Account" (
	"userId" text NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	type text NOT NULL,
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	refresh_token text,
	access_token text,
	expires_at integer,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	"createdAt" datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" datetime NOT NULL,
	PRIMARY KEY (provider, "providerAccountId")
);
CREATE TABLE "Session" (
	"sessionToken" text NOT NULL,
	"userId" text NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	expires datetime NOT NULL,
	"createdAt" datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" datetime NOT NULL
);
CREATE UNIQUE INDEX "Session_sessionToken_key" ON "Session" ("sessionToken");
CREATE TABLE "VerificationToken" (
	identifier text NOT NULL,
	token text NOT NULL,
	expires datetime NOT NULL,
	PRIMARY KEY (identifier, token)
);
CREATE TABLE "Authenticator" (
	"credentialID" text NOT NULL,
	"userId" text NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	"providerAccountId" text NOT NULL,
	"credentialPublicKey" text NOT NULL,
	counter integer NOT NULL,
	"credentialDeviceType" text NOT NULL,
	"credentialBackedUp" boolean NOT NULL,
	transports text,
	PRIMARY KEY ("userId", "credentialID")
);
CREATE UNIQUE INDEX "Authenticator_credentialID_key" ON "Authenticator" ("credentialID");
