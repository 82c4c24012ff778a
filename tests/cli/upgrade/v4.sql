-- From format 3 to format 4, as it was.
CREATE TABLE bisections (id INTEGER PRIMARY KEY, name TEXT NOT NULL, campaign_id TEXT REFERENCES campaigns(id) ON DELETE SET NULL, options TEXT NOT NULL, decisions TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL, ended INTEGER) STRICT;
CREATE UNIQUE INDEX bisections_by_name ON bisections(name) WHERE ended IS NULL;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' ''import'')', ' ''import'', ''bisect'')') WHERE type = 'table' AND name = 'campaigns';
PRAGMA writable_schema = RESET;
PRAGMA user_version = 4;
