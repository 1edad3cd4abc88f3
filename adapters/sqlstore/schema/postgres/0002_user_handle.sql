ALTER TABLE authenticators ADD COLUMN IF NOT EXISTS user_handle text;
