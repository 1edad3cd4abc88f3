CREATE TABLE "User" (
	id TEXT PRIMARY KEY NOT NULL,
	name TEXT,
	email TEXT,
	"emailVerified" DATETIME,
	image TEXT,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL
);
CREATE UNIQUE INDEX "User_email_key" ON "User" (email);
CREATE TABLE "Account" (
	"userId" TEXT NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	type TEXT NOT NULL,
	provider TEXT NOT NULL,
	"providerAccountId" TEXT NOT NULL,
	expires_at INTEGER,
	refresh_token TEXT,
	access_token TEXT,
	token_type TEXT,
	scope TEXT,
	id_token TEXT,
	session_state TEXT,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL,
	PRIMARY KEY (provider, "providerAccountId")
);
CREATE TABLE "Session" (
	"sessionToken" TEXT NOT NULL,
	"userId" TEXT NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	expires DATETIME NOT NULL,
	"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	"updatedAt" DATETIME NOT NULL
);
CREATE UNIQUE INDEX "Session_sessionToken_key" ON "Session" ("sessionToken");
CREATE TABLE "VerificationToken" (
	identifier TEXT NOT NULL,
	token TEXT NOT NULL,
	expires DATETIME NOT NULL
);
CREATE UNIQUE INDEX "VerificationToken_identifier_token_key" ON "VerificationToken" (identifier, token);
