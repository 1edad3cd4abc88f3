CREATE TABLE "User" (
	id varchar(191) PRIMARY KEY NOT NULL,
	name varchar(191),
	email varchar(191),
	"emailVerified" datetime(3),
	image varchar(191),
	"createdAt" datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	"updatedAt" datetime(3) NOT NULL
);
CREATE UNIQUE INDEX "User_email_key" ON "User" (email);
CREATE TABLE "Account" (
	id varchar(191) PRIMARY KEY NOT NULL,
	"userId" varchar(191) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	type varchar(191) NOT NULL,
	provider varchar(191) NOT NULL,
	"providerAccountId" varchar(191) NOT NULL,
	expires_at integer,
	refresh_token text,
	access_token text,
	token_type varchar(191),
	scope varchar(191),
	id_token text,
	session_state varchar(191),
	"createdAt" datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	"updatedAt" datetime(3) NOT NULL
);
CREATE UNIQUE INDEX "Account_provider_providerAccountId_key" ON "Account" (provider, "providerAccountId");
CREATE TABLE "Session" (
	id varchar(191) PRIMARY KEY NOT NULL,
	"sessionToken" varchar(191) NOT NULL,
	"userId" varchar(191) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	expires datetime(3) NOT NULL,
	"createdAt" datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	"updatedAt" datetime(3) NOT NULL
);
CREATE UNIQUE INDEX "Session_sessionToken_key" ON "Session" ("sessionToken");
CREATE TABLE "VerificationToken" (
	identifier varchar(191) NOT NULL,
	token varchar(191) NOT NULL,
	expires datetime(3) NOT NULL
);
CREATE UNIQUE INDEX "VerificationToken_identifier_token_key" ON "VerificationToken" (identifier, token);
