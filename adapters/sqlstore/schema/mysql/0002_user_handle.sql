ALTER TABLE authenticators ADD COLUMN user_handle varbinary(255);
