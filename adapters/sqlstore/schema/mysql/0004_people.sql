ALTER TABLE users ADD COLUMN created bigint, ADD KEY users_created (created, id);

ALTER TABLE users ADD COLUMN name_key varbinary(1400), ADD KEY users_name_key (name_key, id);

ALTER TABLE users ADD COLUMN provisioned bigint;

ALTER TABLE sessions ADD COLUMN actor varbinary(255);

ALTER TABLE sessions ADD COLUMN actor_session varbinary(255), ADD KEY sessions_actor_session (actor_session);

CREATE TABLE IF NOT EXISTS suspensions (
	user_id {users.id} PRIMARY KEY,
	since bigint NOT NULL,
	`until` bigint,
	reason mediumtext CHARACTER SET utf8mb4,
	actor varbinary(255),
	CONSTRAINT suspensions_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS activities (
	id varbinary(255) PRIMARY KEY,
	user_id {users.id} NOT NULL,
	time bigint NOT NULL,
	type varbinary(255) NOT NULL,
	provider varbinary(255),
	user_agent mediumtext CHARACTER SET utf8mb4,
	actor_kind varbinary(255),
	KEY activities_user (user_id, time),
	KEY activities_time (time),
	CONSTRAINT activities_user_cascade FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
