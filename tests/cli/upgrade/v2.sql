-- From format 1 to format 2, as it was.
ALTER TABLE metrics ADD COLUMN topic TEXT NOT NULL DEFAULT '';
ALTER TABLE metrics ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE metrics ADD COLUMN deterministic INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 2;
