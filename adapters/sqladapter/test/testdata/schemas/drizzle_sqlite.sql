CREATE TABLE "user" (
	id text PRIMARY KEY NOT NULL,
	name text,
	email text UNIQUE,
	"emailVerified" integer,
	image text
);
CREATE TABLE account (
	"userId" text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	type text NOT NULL,
	provider text NOT NULL,
	"providerAccountId" text NOT NULL,
	expires_at integer,
	refresh_token text,
	access_token text,
	token_type text,
	scope text,
	id_token text,
	session_state text,
	PRIMARY KEY (provider, "providerAccountId")
);
CREATE TABLE session (
	"sessionToken" text PRIMARY KEY NOT NULL,
	"userId" text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	expires integer NOT NULL
);
CREATE TABLE "verificationToken" (
	identifier text NOT NULL,
	token text NOT NULL,
	expires integer NOT NULL,
	PRIMARY KEY (identifier, token)
);
CREATE TABLE authenticator (
	"credentialID" text NOT NULL UNIQUE,
	"userId" text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
	"providerAccountId" text NOT NULL,
	"credentialPublicKey" text NOT NULL,
	counter integer NOT NULL,
	"credentialDeviceType" text NOT NULL,
	"credentialBackedUp" integer NOT NULL,
	transports text,
	PRIMARY KEY ("userId", "credentialID")
);
