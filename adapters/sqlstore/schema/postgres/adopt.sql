UPDATE users SET email = NULL WHERE email = '';

-- In Turkish the lower case of I is another letter.
UPDATE users SET email = lower(translate(email, 'I', 'i')) WHERE email <> lower(translate(email, 'I', 'i'));

ALTER TABLE users ADD COLUMN IF NOT EXISTS extra text;

CREATE UNIQUE INDEX IF NOT EXISTS users_email ON users (email);

ALTER TABLE accounts
	ADD COLUMN IF NOT EXISTS id text NOT NULL DEFAULT gen_random_uuid()::text,
	ADD COLUMN IF NOT EXISTS authorization_details text,
	ADD COLUMN IF NOT EXISTS token_extra text,
	ADD COLUMN IF NOT EXISTS extra text,
	ADD COLUMN IF NOT EXISTS email text,
	ADD COLUMN IF NOT EXISTS email_vouched boolean,
	ALTER COLUMN "providerAccountId" TYPE text;

CREATE UNIQUE INDEX IF NOT EXISTS accounts_provider ON accounts (provider, "providerAccountId");

CREATE INDEX IF NOT EXISTS accounts_user ON accounts ("userId");

ALTER TABLE sessions
	ADD COLUMN IF NOT EXISTS id text NOT NULL DEFAULT gen_random_uuid()::text,
	ADD COLUMN IF NOT EXISTS created timestamptz,
	ADD COLUMN IF NOT EXISTS user_agent text,
	ADD COLUMN IF NOT EXISTS tenant text,
	ADD COLUMN IF NOT EXISTS provider text,
	ADD COLUMN IF NOT EXISTS provider_sid text,
	ADD COLUMN IF NOT EXISTS provider_sub text,
	ADD COLUMN IF NOT EXISTS provider_issued timestamptz,
	ADD COLUMN IF NOT EXISTS sealed text,
	ADD COLUMN IF NOT EXISTS proved timestamptz,
	ADD COLUMN IF NOT EXISTS amr text,
	ADD COLUMN IF NOT EXISTS acr text,
	ALTER COLUMN "sessionToken" TYPE text;

CREATE UNIQUE INDEX IF NOT EXISTS sessions_token ON sessions ("sessionToken");

CREATE INDEX IF NOT EXISTS sessions_user ON sessions ("userId");

CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires);

CREATE INDEX IF NOT EXISTS sessions_provider_sid ON sessions (provider_sid);

CREATE INDEX IF NOT EXISTS sessions_provider_sub ON sessions (provider_sub);

CREATE TABLE IF NOT EXISTS verification_token (
	identifier text NOT NULL,
	token text NOT NULL,
	expires timestamptz NOT NULL,
	PRIMARY KEY (identifier, token)
);

ALTER TABLE verification_token ADD COLUMN IF NOT EXISTS purpose text;

CREATE UNIQUE INDEX IF NOT EXISTS verification_token_pair ON verification_token (identifier, token);

CREATE INDEX IF NOT EXISTS verification_token_expires ON verification_token (expires);

DO $$
DECLARE
	ids text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'users'::regclass AND attname = 'id');
	child text;
BEGIN
	EXECUTE format('CREATE TABLE IF NOT EXISTS authenticators (
		"credentialID" text PRIMARY KEY,
		"userId" %s NOT NULL,
		"providerAccountId" text NOT NULL,
		"credentialPublicKey" text NOT NULL,
		counter bigint NOT NULL,
		"credentialDeviceType" text NOT NULL,
		"credentialBackedUp" boolean NOT NULL,
		transports text)', ids);
	FOREACH child IN ARRAY ARRAY['accounts', 'sessions', 'authenticators'] LOOP
		IF NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'c'
			AND conrelid = child::regclass AND confrelid = 'users'::regclass) THEN
			EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I FOREIGN KEY ("userId") REFERENCES users (id) ON DELETE CASCADE', child, child || '_user_cascade');
		END IF;
	END LOOP;
END $$;

ALTER TABLE authenticators
	ADD COLUMN IF NOT EXISTS name text,
	ADD COLUMN IF NOT EXISTS aaguid text,
	ADD COLUMN IF NOT EXISTS created timestamptz,
	ADD COLUMN IF NOT EXISTS used timestamptz,
	ADD COLUMN IF NOT EXISTS user_handle text;

CREATE UNIQUE INDEX IF NOT EXISTS authenticators_credential ON authenticators ("credentialID");

CREATE INDEX IF NOT EXISTS authenticators_user ON authenticators ("userId");

CREATE TABLE IF NOT EXISTS revocations (
	key text PRIMARY KEY,
	at timestamptz NOT NULL,
	expires timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS revocations_expires ON revocations (expires);

CREATE TABLE IF NOT EXISTS limits (
	key text PRIMARY KEY,
	full_at timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS used_values (
	key text PRIMARY KEY,
	expires timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS used_values_expires ON used_values (expires);
