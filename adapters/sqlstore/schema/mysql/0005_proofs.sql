CREATE TABLE IF NOT EXISTS factors (
	id varbinary(255) PRIMARY KEY,
	user_id {users.id} NOT NULL,
	kind varbinary(255) NOT NULL,
	name mediumtext CHARACTER SET utf8mb4 NOT NULL,
	secret mediumtext CHARACTER SET utf8mb4 NOT NULL,
	step bigint NOT NULL,
	failures bigint NOT NULL,
	created bigint NOT NULL,
	used bigint,
	KEY factors_user (user_id),
	CONSTRAINT factors_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS recovery_codes (
	user_id {users.id} NOT NULL,
	hash varbinary(255) NOT NULL,
	PRIMARY KEY (user_id, hash),
	CONSTRAINT recovery_codes_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS challenges (
	id varbinary(255) PRIMARY KEY,
	purpose varbinary(255) NOT NULL,
	tenant varbinary(255),
	user_id varbinary(255),
	identifier varbinary(1400),
	data mediumtext CHARACTER SET utf8mb4 NOT NULL,
	tries bigint NOT NULL,
	created bigint NOT NULL,
	expires bigint NOT NULL,
	KEY challenges_user (user_id),
	KEY challenges_identifier (purpose, identifier),
	KEY challenges_expires (expires)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS browsers (
	id varbinary(255) NOT NULL,
	user_id {users.id} NOT NULL,
	public_id varbinary(255) NOT NULL,
	created bigint NOT NULL,
	seen bigint NOT NULL,
	trusted bigint,
	expires bigint NOT NULL,
	user_agent mediumtext CHARACTER SET utf8mb4,
	PRIMARY KEY (id, user_id),
	UNIQUE KEY browsers_public (public_id),
	KEY browsers_user (user_id),
	KEY browsers_expires (expires),
	CONSTRAINT browsers_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS passwords (
	user_id {users.id} PRIMARY KEY,
	hash mediumtext CHARACTER SET utf8mb4 NOT NULL,
	failures bigint NOT NULL,
	renew boolean NOT NULL,
	created bigint NOT NULL,
	changed bigint NOT NULL,
	CONSTRAINT passwords_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
