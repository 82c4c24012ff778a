-- From format 4 to format 5, as it was.
CREATE TABLE ignores (metric TEXT NOT NULL, test_case TEXT NOT NULL DEFAULT '', until INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (metric, test_case)) STRICT, WITHOUT ROWID;
PRAGMA user_version = 5;
