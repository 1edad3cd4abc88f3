CREATE TABLE IF NOT EXISTS leases (
	`key` varbinary(255) PRIMARY KEY,
	holder varbinary(255) NOT NULL,
	until bigint NOT NULL,
	KEY leases_until (until)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
