-- SPDX-License-Identifier: GPL-2.0-or-later
-- kdelta's database, version 1; later ones are steps in schema.c. Times are Unix seconds (INTEGER). Hashes are lower-case hex.
-- The `summary` view at the end is documented and stable; the tables may change with user_version.

PRAGMA application_id = 1801741676;	-- "kdel"

CREATE TABLE machines (
	id INTEGER PRIMARY KEY,
	fingerprint TEXT NOT NULL UNIQUE,	-- hash of what makes two machines comparable
	name TEXT NOT NULL,			-- host name, or the words of an imported text
	description TEXT NOT NULL DEFAULT ''	-- "2 CPUs, AMD EPYC 7B13, 24 GiB"
) STRICT;

CREATE TABLE kernels (
	id INTEGER PRIMARY KEY,
	identity TEXT NOT NULL UNIQUE,		-- hash of image and source, or of the release of a running one
	release TEXT NOT NULL DEFAULT '',	-- uname -r
	version TEXT NOT NULL DEFAULT '',	-- uname -v, or the image header's version string
	build_id TEXT NOT NULL DEFAULT '',	-- of /sys/kernel/notes, stored at the first boot
	image_sha256 TEXT NOT NULL DEFAULT '',
	source TEXT NOT NULL DEFAULT '',	-- "deb linux-image-6.1.0-57-cloud-amd64 6.1.192-3", a path, "running"
	commit_id TEXT NOT NULL DEFAULT ''	-- git commit where known
) STRICT;

CREATE TABLE variants (
	id INTEGER PRIMARY KEY,
	identity TEXT NOT NULL UNIQUE,		-- hash of kernel, command line, sysctls, features, environment
	kernel_id INTEGER REFERENCES kernels(id),
	settings TEXT NOT NULL DEFAULT '{}'	-- JSON: cmdline, sysctl, sched_features, env
) STRICT;

CREATE TABLE campaigns (
	id TEXT PRIMARY KEY,			-- name-YYYYMMDD-n
	name TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('run', 'record', 'import')),
	created INTEGER NOT NULL,
	ended INTEGER,				-- NULL while it can be resumed
	unit TEXT NOT NULL CHECK (unit IN ('boot', 'run')),	-- what n counts
	backend TEXT NOT NULL DEFAULT '',	-- host, manual, qemu
	accelerator TEXT NOT NULL DEFAULT '',	-- of qemu: kvm or tcg
	repeat INTEGER NOT NULL DEFAULT 0,
	seed INTEGER NOT NULL DEFAULT 0,	-- of the order of blocks
	config TEXT NOT NULL DEFAULT '',	-- the YAML as read
	config_path TEXT NOT NULL DEFAULT '',
	machine_id INTEGER REFERENCES machines(id),
	source TEXT NOT NULL DEFAULT '',	-- of an import: file or address, date
	tool_version TEXT NOT NULL DEFAULT ''
) STRICT;

-- A variant under the name it has in one campaign. position 0 is the baseline of a run;
-- baseline = 1 marks it.
CREATE TABLE campaign_variants (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT NOT NULL DEFAULT '',
	baseline INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (campaign_id, variant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE test_cases (
	id INTEGER PRIMARY KEY,
	identity TEXT NOT NULL UNIQUE,		-- hash of benchmark and all parameters
	benchmark TEXT NOT NULL,
	name TEXT NOT NULL,			-- "tbench/clients=64/bind=node0"
	params TEXT NOT NULL DEFAULT '{}',	-- JSON of all parameters, in the order of the benchmark's file
	swept TEXT NOT NULL DEFAULT '[]',	-- JSON array: names of the swept ones, in order
	description TEXT NOT NULL DEFAULT '',
	command TEXT NOT NULL DEFAULT ''	-- as it would be typed
) STRICT;

-- The test cases of a campaign, in the order of its config.
CREATE TABLE campaign_cases (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	position INTEGER NOT NULL,
	expected REAL NOT NULL DEFAULT 0,	-- seconds of one run
	PRIMARY KEY (campaign_id, case_id)
) STRICT, WITHOUT ROWID;

-- The plan: every run that the campaign owes. A cell is done when a run of it is.
CREATE TABLE cells (
	id INTEGER PRIMARY KEY,
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	seq INTEGER NOT NULL,			-- order of execution
	block INTEGER NOT NULL,			-- 1..repeat
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	state TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'done', 'failed', 'skipped')),
	attempts INTEGER NOT NULL DEFAULT 0,
	reason TEXT NOT NULL DEFAULT '',	-- of failed and skipped
	UNIQUE (campaign_id, seq)
) STRICT;

CREATE TABLE boots (
	id INTEGER PRIMARY KEY,
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	machine_id INTEGER REFERENCES machines(id),
	block INTEGER NOT NULL DEFAULT 0,
	boot_id TEXT NOT NULL DEFAULT '',	-- /proc/sys/kernel/random/boot_id
	started INTEGER NOT NULL,
	seconds REAL,				-- until the first command could run
	outcome TEXT NOT NULL DEFAULT 'open',	-- open, ok, or an error class: panic, no_boot, hang, ...
	reason TEXT NOT NULL DEFAULT '',
	release TEXT NOT NULL DEFAULT '',
	build_id TEXT NOT NULL DEFAULT '',
	clocksource TEXT NOT NULL DEFAULT '',
	console_id INTEGER REFERENCES raws(id)
) STRICT;
CREATE INDEX boots_by_campaign ON boots(campaign_id);

CREATE TABLE runs (
	id INTEGER PRIMARY KEY,
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	cell_id INTEGER REFERENCES cells(id) ON DELETE SET NULL,
	boot_id INTEGER REFERENCES boots(id),
	machine_id INTEGER REFERENCES machines(id),
	block INTEGER NOT NULL DEFAULT 0,
	attempt INTEGER NOT NULL DEFAULT 1,
	started INTEGER NOT NULL,
	-- stored: raw output is in, not parsed yet; then ok, partial, suspect or error
	outcome TEXT NOT NULL DEFAULT 'stored'
		CHECK (outcome IN ('stored', 'ok', 'partial', 'suspect', 'error')),
	error TEXT,				-- class, as in the parser's JSON, or of the runner
	message TEXT,
	command TEXT NOT NULL DEFAULT '',
	parser TEXT NOT NULL DEFAULT '',	-- benchmark whose parser reads it
	exit_status INTEGER,			-- NULL: ended by a signal or never started
	signal INTEGER,
	elapsed REAL,				-- seconds
	user_time REAL, sys_time REAL,
	max_rss INTEGER,			-- KiB
	voluntary INTEGER, involuntary INTEGER,	-- context switches
	leftovers INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_campaign ON runs(campaign_id, variant_id, case_id);
CREATE INDEX runs_by_cell ON runs(cell_id);

-- Raw outputs, zstd-compressed, written and committed before anything is parsed.
CREATE TABLE raws (
	id INTEGER PRIMARY KEY,
	run_id INTEGER REFERENCES runs(id) ON DELETE CASCADE,
	stream TEXT NOT NULL,			-- stdout, stderr, both, console, source
	name TEXT NOT NULL DEFAULT '',		-- file name of an import
	size INTEGER NOT NULL,
	sha256 TEXT NOT NULL,
	data BLOB NOT NULL
) STRICT;
CREATE INDEX raws_by_run ON raws(run_id);

CREATE TABLE metrics (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,		-- "tbench.throughput"
	unit TEXT NOT NULL DEFAULT '',
	direction TEXT NOT NULL CHECK (direction IN ('higher', 'lower', 'neutral', 'depends', 'unknown')),
	mean_kind TEXT NOT NULL CHECK (mean_kind IN ('amean', 'hmean', 'gmean', 'median')),
	role TEXT NOT NULL CHECK (role IN ('headline', 'counter', 'diagnostic')),
	description TEXT NOT NULL DEFAULT ''
) STRICT;

-- One value of one metric in one run. Only runs with outcome 'ok' count.
CREATE TABLE samples (
	run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	value REAL NOT NULL,
	PRIMARY KEY (run_id, metric_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
	run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	t REAL NOT NULL,			-- seconds
	value REAL NOT NULL,
	PRIMARY KEY (run_id, metric_id, t)
) STRICT, WITHOUT ROWID;

-- Imported cells that are summaries, not samples. n and deviation NULL: not stated.
CREATE TABLE summaries (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	idx INTEGER NOT NULL DEFAULT 0,
	mean REAL,
	mean_text TEXT NOT NULL DEFAULT '',	-- as printed
	mean_kind TEXT NOT NULL DEFAULT '',
	deviation REAL,
	-- stddev in the metric's unit; percent, cv, stderr_percent: percent of the mean; hidden: not
	-- printed, because it was small
	deviation_kind TEXT NOT NULL DEFAULT '',
	n INTEGER,
	change REAL,				-- published percentage
	change_sign TEXT NOT NULL DEFAULT '',	-- raw or better (percent), or points (new - old)
	mark INTEGER NOT NULL DEFAULT 0,
	line INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (campaign_id, variant_id, case_id, metric_id, idx)
) STRICT, WITHOUT ROWID;

-- Environment facts of a campaign, boot or run ("cmdline", "governor", "time_split.boot", ...).
CREATE TABLE facts (
	scope TEXT NOT NULL CHECK (scope IN ('campaign', 'machine', 'boot', 'run', 'variant')),
	scope_id TEXT NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (scope, scope_id, key)
) STRICT, WITHOUT ROWID;

-- Against the campaign's baseline, as the last `run` or `compare` computed it:
-- better, worse, better small, worse small, same, unsure, changed, missing, failed.
CREATE TABLE verdicts (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	verdict TEXT NOT NULL,
	PRIMARY KEY (campaign_id, variant_id, case_id, metric_id)
) STRICT, WITHOUT ROWID;

-- What statistics count, one value each: a boot (mean of its runs) or a run, as campaigns.unit says.
CREATE VIEW units AS
SELECT r.campaign_id, r.case_id, s.metric_id, r.variant_id, min(r.block) AS block,
	avg(s.value) AS value
FROM campaigns c
JOIN runs r ON r.campaign_id = c.id AND r.outcome = 'ok'
JOIN samples s ON s.run_id = r.id
GROUP BY r.campaign_id, r.case_id, s.metric_id, r.variant_id,
	CASE WHEN c.unit = 'boot' AND r.boot_id IS NOT NULL THEN -r.boot_id ELSE r.id END;

-- Stable, for people with sqlite3: one row per campaign, variant, test case and metric.
--	n		units (boots or runs); NULL: an imported table that does not say
--	hmean, amean	NULL where it cannot be computed or, of an import, is another kind of mean
--	stddev		sample deviation (n - 1), in the metric's unit; NULL below two values
--	cv		stddev / mean, a fraction
--	verdict		see verdicts; NULL: nothing computed it, or the baseline itself
CREATE VIEW summary AS
-- (Windows instead of GROUP BY: SQLite carries WHERE campaign = ... through their partitions.)
WITH centred AS (
	SELECT *, row_number() OVER cell AS nth, count(*) OVER cell AS n,
		avg(value) OVER cell AS amean, min(value) OVER cell AS smallest,
		sum(1 / value) OVER cell AS inverses
	FROM units
	WINDOW cell AS (PARTITION BY campaign_id, case_id, metric_id, variant_id)
), measured AS (
	SELECT *, sum((value - amean) * (value - amean)) OVER (
		PARTITION BY campaign_id, case_id, metric_id, variant_id) AS squares
	FROM centred
), published AS (
	SELECT s.campaign_id, s.variant_id, s.case_id, s.metric_id, s.n, s.mean,
		lower(iif(s.mean_kind = '', m.mean_kind, s.mean_kind)) AS kind,
		CASE
			WHEN s.deviation_kind = 'stddev' THEN s.deviation
			WHEN s.deviation_kind IN ('percent', 'cv') THEN s.deviation / 100 * abs(s.mean)
			WHEN s.deviation_kind = 'stderr_percent'
				THEN s.deviation / 100 * abs(s.mean) * sqrt(s.n)
		END AS stddev
	FROM summaries s
	JOIN metrics m ON m.id = s.metric_id
), cells AS (
	SELECT campaign_id, variant_id, case_id, metric_id, n,
		iif(smallest > 0, n / inverses, NULL) AS hmean, amean,
		iif(n > 1, sqrt(squares / (n - 1)), NULL) AS stddev
	FROM measured
	WHERE nth = 1
	UNION ALL
	SELECT campaign_id, variant_id, case_id, metric_id, n, iif(kind = 'hmean', mean, NULL),
		iif(kind = 'amean', mean, NULL), stddev
	FROM published
)
SELECT c.campaign_id AS campaign, cv.name AS variant, t.name AS test_case, m.name AS metric,
	m.unit, m.direction, c.n, c.hmean, c.amean, c.stddev,
	c.stddev / nullif(abs(ifnull(c.amean, c.hmean)), 0) AS cv, v.verdict
FROM cells c
JOIN campaign_variants cv ON cv.campaign_id = c.campaign_id AND cv.variant_id = c.variant_id
JOIN test_cases t ON t.id = c.case_id
JOIN metrics m ON m.id = c.metric_id
LEFT JOIN verdicts v ON v.campaign_id = c.campaign_id AND v.variant_id = c.variant_id
	AND v.case_id = c.case_id AND v.metric_id = c.metric_id;
