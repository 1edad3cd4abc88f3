CREATE TABLE IF NOT EXISTS users (
	id varbinary(255) PRIMARY KEY,
	name mediumtext CHARACTER SET utf8mb4,
	email varbinary(1400),
	`emailVerified` bigint,
	image mediumtext CHARACTER SET utf8mb4,
	extra mediumtext CHARACTER SET utf8mb4,
	UNIQUE KEY users_email (email)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS accounts (
	id varbinary(255) PRIMARY KEY,
	`userId` varbinary(255) NOT NULL,
	type varbinary(255) NOT NULL,
	provider varbinary(255) NOT NULL,
	`providerAccountId` varbinary(1400) NOT NULL,
	refresh_token mediumtext CHARACTER SET utf8mb4,
	access_token mediumtext CHARACTER SET utf8mb4,
	expires_at bigint,
	id_token mediumtext CHARACTER SET utf8mb4,
	scope mediumtext CHARACTER SET utf8mb4,
	session_state mediumtext CHARACTER SET utf8mb4,
	token_type mediumtext CHARACTER SET utf8mb4,
	authorization_details mediumtext CHARACTER SET utf8mb4,
	token_extra mediumtext CHARACTER SET utf8mb4,
	extra mediumtext CHARACTER SET utf8mb4,
	email varbinary(1400),
	email_vouched boolean,
	UNIQUE KEY accounts_provider (provider, `providerAccountId`),
	KEY accounts_user (`userId`),
	CONSTRAINT accounts_user_cascade FOREIGN KEY (`userId`) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS sessions (
	id varbinary(255) PRIMARY KEY,
	`userId` varbinary(255) NOT NULL,
	`sessionToken` varbinary(1400) NOT NULL,
	expires bigint NOT NULL,
	created bigint,
	user_agent mediumtext CHARACTER SET utf8mb4,
	tenant varbinary(255),
	provider varbinary(255),
	provider_sid varbinary(255),
	provider_sub varbinary(255),
	provider_issued bigint,
	sealed mediumtext CHARACTER SET utf8mb4,
	proved bigint,
	amr varbinary(255),
	acr varbinary(255),
	UNIQUE KEY sessions_token (`sessionToken`),
	KEY sessions_user (`userId`),
	KEY sessions_expires (expires),
	KEY sessions_provider_sid (provider_sid),
	KEY sessions_provider_sub (provider_sub),
	CONSTRAINT sessions_user_cascade FOREIGN KEY (`userId`) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS verification_token (
	identifier varbinary(1400) NOT NULL,
	token varbinary(1400) NOT NULL,
	expires bigint NOT NULL,
	purpose varbinary(255),
	PRIMARY KEY (identifier, token),
	KEY verification_token_expires (expires)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS authenticators (
	`credentialID` varbinary(1400) PRIMARY KEY,
	`userId` varbinary(255) NOT NULL,
	`providerAccountId` varbinary(1400) NOT NULL,
	`credentialPublicKey` mediumtext CHARACTER SET utf8mb4 NOT NULL,
	counter bigint NOT NULL,
	`credentialDeviceType` varbinary(255) NOT NULL,
	`credentialBackedUp` boolean NOT NULL,
	transports mediumtext CHARACTER SET utf8mb4,
	name mediumtext CHARACTER SET utf8mb4,
	aaguid varbinary(255),
	created bigint,
	used bigint,
	KEY authenticators_user (`userId`),
	CONSTRAINT authenticators_user_cascade FOREIGN KEY (`userId`) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS revocations (
	`key` varbinary(255) PRIMARY KEY,
	at bigint NOT NULL,
	expires bigint NOT NULL,
	KEY revocations_expires (expires)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
