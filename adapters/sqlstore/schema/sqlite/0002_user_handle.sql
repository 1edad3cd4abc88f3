ALTER TABLE authenticators ADD COLUMN user_handle text;
