CREATE TABLE IF NOT EXISTS limits (
	`key` varbinary(255) PRIMARY KEY,
	full_at bigint NOT NULL,
	KEY limits_full_at (full_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS used_values (
	`key` varbinary(255) PRIMARY KEY,
	expires bigint NOT NULL,
	KEY used_values_expires (expires)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
