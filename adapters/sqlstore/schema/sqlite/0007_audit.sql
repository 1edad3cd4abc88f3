CREATE TABLE IF NOT EXISTS audit_events (
	id text PRIMARY KEY NOT NULL,
	type text NOT NULL,
	outcome text NOT NULL,
	time integer NOT NULL,
	tenant text,
	user_id text,
	session_id text,
	client text,
	data text NOT NULL,
	personal text
);

CREATE INDEX IF NOT EXISTS audit_events_user ON audit_events (user_id, time);

CREATE INDEX IF NOT EXISTS audit_events_type ON audit_events (type, time);

CREATE INDEX IF NOT EXISTS audit_events_time ON audit_events (time);
