-- From format 2 to format 3, as it was.
CREATE INDEX raws_by_sha256 ON raws(sha256);
PRAGMA user_version = 3;
