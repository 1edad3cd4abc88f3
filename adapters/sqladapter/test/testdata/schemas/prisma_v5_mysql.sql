CREATE TABLE "User" (
	id varchar(191) NOT NULL PRIMARY KEY,
	name varchar(191),
	email varchar(191) NOT NULL,
	"emailVerified" datetime(3),
	image varchar(191),
	"createdAt" datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	"updatedAt" datetime(3) NOT NULL
);
CREATE UNIQUE INDEX "User_email_key" ON "User" (email);
CREATE TABLE "Account" (
	"userId" varchar(191) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	type varchar(191) NOT NULL,
	provider varchar(191) NOT NULL,
	"providerAccountId" varchar(191) NOT NULL,
	refresh_token text,
	access_token text,
	expires_at integer,
	token_type varchar(191),
	scope varchar(191),
	id_token text,
	session_state varchar(191),
	"createdAt" datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
	"updatedAt" datetime(3) NOT NULL,
	PRIMARY KEY (provider, "providerAccountId")
);
CREATE TABLE "Session" (
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
	expires datetime(3) NOT NULL,
	PRIMARY KEY (identifier, token)
);
CREATE TABLE "Authenticator" (
	"credentialID" varchar(191) NOT NULL,
	"userId" varchar(191) NOT NULL REFERENCES "User" (id) ON DELETE CASCADE,
	"providerAccountId" varchar(191) NOT NULL,
	"credentialPublicKey" varchar(191) NOT NULL,
	counter integer NOT NULL,
	"credentialDeviceType" varchar(191) NOT NULL,
	"credentialBackedUp" boolean NOT NULL,
	transports varchar(191),
	PRIMARY KEY ("userId", "credentialID")
);
CREATE UNIQUE INDEX "Authenticator_credentialID_key" ON "Authenticator" ("credentialID");
