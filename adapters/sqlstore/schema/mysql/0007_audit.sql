CREATE TABLE IF NOT EXISTS audit_events (
	id varbinary(255) PRIMARY KEY,
	type varbinary(255) NOT NULL,
	outcome varbinary(255) NOT NULL,
	time bigint NOT NULL,
	tenant varbinary(255),
	user_id varbinary(255),
	session_id varbinary(255),
	client varbinary(255),
	data mediumtext CHARACTER SET utf8mb4 NOT NULL,
	personal mediumtext CHARACTER SET utf8mb4,
	KEY audit_events_user (user_id, time),
	KEY audit_events_type (type, time),
	KEY audit_events_time (time)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
