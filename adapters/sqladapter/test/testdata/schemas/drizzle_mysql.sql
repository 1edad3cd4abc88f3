CREATE TABLE "user" (
	id varchar(255) PRIMARY KEY NOT NULL,
	name varchar(255),
	email varchar(255) UNIQUE,
	"emailVerified" timestamp(3) NULL,
	image varchar(255)
);
CREATE TABLE account (
	"userId" varchar(255) NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	type varchar(255) NOT NULL,
	provider varchar(255) NOT NULL,
	"providerAccountId" varchar(255) NOT NULL,
	expires_at int,
	refresh_token varchar(255),
	access_token varchar(255),
	token_type varchar(255),
	scope varchar(255),
	id_token varchar(2048),
	session_state varchar(255),
	PRIMARY KEY (provider, "providerAccountId")
);
CREATE TABLE session (
	"sessionToken" varchar(255) PRIMARY KEY NOT NULL,
	"userId" varchar(255) NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	expires timestamp NOT NULL
);
CREATE TABLE "verificationToken" (
	identifier varchar(255) NOT NULL,
	token varchar(255) NOT NULL,
	expires timestamp NOT NULL,
	PRIMARY KEY (identifier, token)
);
CREATE TABLE authenticator (
	"credentialID" varchar(255) NOT NULL UNIQUE,
	"userId" varchar(255) NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	"providerAccountId" varchar(255) NOT NULL,
	"credentialPublicKey" varchar(255) NOT NULL,
	counter int NOT NULL,
	"credentialDeviceType" varchar(255) NOT NULL,
	"credentialBackedUp" boolean NOT NULL,
	transports varchar(255),
	PRIMARY KEY ("userId", "credentialID")
);
