-- A database as kdelta wrote it in format 1: a campaign of six runs and an imported table (sqlite3 .dump).
PRAGMA application_id = 1801741676;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE machines (
	id INTEGER PRIMARY KEY,
	fingerprint TEXT NOT NULL UNIQUE,	-- hash of what makes two machines comparable
	name TEXT NOT NULL,			-- host name, or the words of an imported text
	description TEXT NOT NULL DEFAULT ''	-- "2 CPUs, AMD EPYC 7B13, 24 GiB"
) STRICT;
INSERT INTO machines VALUES(1,'40bbcb89e9f15633','vm','2 CPUs, AMD EPYC, 24 GiB');
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
INSERT INTO kernels VALUES(1,'ac0e910cfb62850c','6.18.44-fc-v782','#1 SMP PREEMPT_DYNAMIC @0','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','','running','');
CREATE TABLE variants (
	id INTEGER PRIMARY KEY,
	identity TEXT NOT NULL UNIQUE,		-- hash of kernel, command line, sysctls, features, environment
	kernel_id INTEGER REFERENCES kernels(id),
	settings TEXT NOT NULL DEFAULT '{}'	-- JSON: cmdline, sysctl, sched_features, env
) STRICT;
INSERT INTO variants VALUES(1,'57c4bf7869674f8d',1,'{"cmdline":"","memory":"","sysctl":{},"sched_features":[],"env":{"TOY":"100"}}');
INSERT INTO variants VALUES(2,'2c9f9ae865ee7cd1',1,'{"cmdline":"","memory":"","sysctl":{},"sched_features":[],"env":{"TOY":"110"}}');
INSERT INTO variants VALUES(3,'a84096770409c655',NULL,'{}');
INSERT INTO variants VALUES(4,'f21ed2cc8ac908a5',NULL,'{}');
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
INSERT INTO campaigns VALUES('old-20261201-1','old','run',1796084672,1796084672,'run','host','',3,419187495,replace('campaign: old\nrepeat: 3\nbackend: host\nvariants:\n  - {name: one, env: {TOY: "100"}}\n  - {name: two, env: {TOY: "110"}}\nbenchmarks:\n  - toy: {}\n','\n',char(10)),'/tmp/p10v/toy.yaml',1,'','0.1.0');
INSERT INTO campaigns VALUES('mail-20261201-1','mail','import',1796084812,1796084812,'run','','',0,0,'','',NULL,'mail.txt','0.1.0');
CREATE TABLE campaign_variants (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT NOT NULL DEFAULT '',
	baseline INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (campaign_id, variant_id)
) STRICT, WITHOUT ROWID;
INSERT INTO campaign_variants VALUES('mail-20261201-1',3,0,'base','',1);
INSERT INTO campaign_variants VALUES('mail-20261201-1',4,1,'patched','',0);
INSERT INTO campaign_variants VALUES('old-20261201-1',1,0,'one','',1);
INSERT INTO campaign_variants VALUES('old-20261201-1',2,1,'two','',0);
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
INSERT INTO test_cases VALUES(1,'39d4e6ab72df95b5','toy','toy','{}','[]','prints a rate','sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''');
INSERT INTO test_cases VALUES(2,'3bb03e04299c4ddc','mmtests','mmtests/key=1','{"key":"1"}','["key"]','','');
INSERT INTO test_cases VALUES(3,'2cae4e7bc66bd70c','mmtests','mmtests/key=2','{"key":"2"}','["key"]','','');
CREATE TABLE campaign_cases (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	position INTEGER NOT NULL,
	expected REAL NOT NULL DEFAULT 0,	-- seconds of one run
	PRIMARY KEY (campaign_id, case_id)
) STRICT, WITHOUT ROWID;
INSERT INTO campaign_cases VALUES('mail-20261201-1',2,0,0.0);
INSERT INTO campaign_cases VALUES('mail-20261201-1',3,1,0.0);
INSERT INTO campaign_cases VALUES('old-20261201-1',1,0,0.10000000000000000555);
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
INSERT INTO cells VALUES(1,'old-20261201-1',1,1,1,1,'done',1,'');
INSERT INTO cells VALUES(2,'old-20261201-1',2,1,2,1,'done',1,'');
INSERT INTO cells VALUES(3,'old-20261201-1',3,2,1,1,'done',1,'');
INSERT INTO cells VALUES(4,'old-20261201-1',4,2,2,1,'done',1,'');
INSERT INTO cells VALUES(5,'old-20261201-1',5,3,2,1,'done',1,'');
INSERT INTO cells VALUES(6,'old-20261201-1',6,3,1,1,'done',1,'');
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
INSERT INTO boots VALUES(1,'old-20261201-1',1,1,1,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
INSERT INTO boots VALUES(2,'old-20261201-1',2,1,1,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
INSERT INTO boots VALUES(3,'old-20261201-1',1,1,2,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
INSERT INTO boots VALUES(4,'old-20261201-1',2,1,2,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
INSERT INTO boots VALUES(5,'old-20261201-1',2,1,3,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
INSERT INTO boots VALUES(6,'old-20261201-1',1,1,3,'0c38747e-a1f5-45b9-b398-465bc56f7a3a',1796084672,NULL,'ok','','6.18.44-fc-v782','85c7e4e2ed76f4417e8aaad7c6b040d2bb897a26','kvm-clock',NULL);
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
INSERT INTO runs VALUES(1,'old-20261201-1',1,1,1,1,1,1,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.032532613004150334745,0.0064419999999999998097,0.0064419999999999998097,1468,1,8,0);
INSERT INTO runs VALUES(2,'old-20261201-1',2,1,2,2,1,1,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.018654833998880349099,0.010418999999999999442,0.0,1636,1,6,0);
INSERT INTO runs VALUES(3,'old-20261201-1',1,1,3,3,1,2,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.029962470005557406693,0.0029480000000000000995,0.0088439999999999994312,1716,1,4,0);
INSERT INTO runs VALUES(4,'old-20261201-1',2,1,4,4,1,2,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.010052536999864969402,0.0,0.0073309999999999998429,1724,1,8,0);
INSERT INTO runs VALUES(5,'old-20261201-1',2,1,5,5,1,3,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.013074365000647958368,0.0036800000000000001112,0.0036800000000000001112,1724,1,3,0);
INSERT INTO runs VALUES(6,'old-20261201-1',1,1,6,6,1,3,1,1796084672,'ok',NULL,NULL,'sh -c ''echo "rate $TOY.$((SEED % 7))"; echo end''','toy',0,NULL,0.022858041993458755314,0.0047670000000000004036,0.0047670000000000004036,1724,1,7,0);
CREATE TABLE raws (
	id INTEGER PRIMARY KEY,
	run_id INTEGER REFERENCES runs(id) ON DELETE CASCADE,
	stream TEXT NOT NULL,			-- stdout, stderr, both, console, source
	name TEXT NOT NULL DEFAULT '',		-- file name of an import
	size INTEGER NOT NULL,
	sha256 TEXT NOT NULL,
	data BLOB NOT NULL
) STRICT;
INSERT INTO raws VALUES(1,1,'stdout','',15,'0e8f34027dd0314774dcdb04ed608394c8c2d3e346a82c05b92263eae2f1d3f3',X'28b52ffd200f79000072617465203130302e300a656e640a');
INSERT INTO raws VALUES(2,2,'stdout','',15,'2898c58e5185d9d52c416f42c78c3f40317dcc8d07e235407419af3708199f60',X'28b52ffd200f79000072617465203131302e300a656e640a');
INSERT INTO raws VALUES(3,3,'stdout','',15,'0e8f34027dd0314774dcdb04ed608394c8c2d3e346a82c05b92263eae2f1d3f3',X'28b52ffd200f79000072617465203130302e300a656e640a');
INSERT INTO raws VALUES(4,4,'stdout','',15,'2898c58e5185d9d52c416f42c78c3f40317dcc8d07e235407419af3708199f60',X'28b52ffd200f79000072617465203131302e300a656e640a');
INSERT INTO raws VALUES(5,5,'stdout','',15,'2898c58e5185d9d52c416f42c78c3f40317dcc8d07e235407419af3708199f60',X'28b52ffd200f79000072617465203131302e300a656e640a');
INSERT INTO raws VALUES(6,6,'stdout','',15,'0e8f34027dd0314774dcdb04ed608394c8c2d3e346a82c05b92263eae2f1d3f3',X'28b52ffd200f79000072617465203130302e300a656e640a');
INSERT INTO raws VALUES(7,NULL,'source','mail.txt',172,'46075c023cd0cdca731f6dc85503dbcfce42f8416167d12a512214ea390f444f',X'28b52ffd20acdd0200f2c4101780d5390133f6fe4b6802b7d9f617393db157f5a80b1b0148a54c1f65e8bf38f389862a61f38756356f636585f4fb6d83aefb985d75dc6b10b43c4609b8a70fe0923609002028601670b757710122806941a040a7418005');
CREATE TABLE metrics (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,		-- "tbench.throughput"
	unit TEXT NOT NULL DEFAULT '',
	direction TEXT NOT NULL CHECK (direction IN ('higher', 'lower', 'neutral', 'depends', 'unknown')),
	mean_kind TEXT NOT NULL CHECK (mean_kind IN ('amean', 'hmean', 'gmean', 'median')),
	role TEXT NOT NULL CHECK (role IN ('headline', 'counter', 'diagnostic')),
	description TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO metrics VALUES(1,'toy.rate','items/s','higher','hmean','headline','');
INSERT INTO metrics VALUES(2,'mmtests.hmean','','unknown','hmean','headline','');
CREATE TABLE samples (
	run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	value REAL NOT NULL,
	PRIMARY KEY (run_id, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO samples VALUES(1,1,100.0);
INSERT INTO samples VALUES(2,1,110.0);
INSERT INTO samples VALUES(3,1,100.0);
INSERT INTO samples VALUES(4,1,110.0);
INSERT INTO samples VALUES(5,1,110.0);
INSERT INTO samples VALUES(6,1,100.0);
CREATE TABLE series (
	run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	t REAL NOT NULL,			-- seconds
	value REAL NOT NULL,
	PRIMARY KEY (run_id, metric_id, t)
) STRICT, WITHOUT ROWID;
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
	-- stddev in the metric's unit; percent, cv, stderr_percent: percent of the mean; hidden
	deviation_kind TEXT NOT NULL DEFAULT '',
	n INTEGER,
	change REAL,				-- published percentage
	change_sign TEXT NOT NULL DEFAULT '',	-- raw or better
	mark INTEGER NOT NULL DEFAULT 0,
	line INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (campaign_id, variant_id, case_id, metric_id, idx)
) STRICT, WITHOUT ROWID;
INSERT INTO summaries VALUES('mail-20261201-1',3,2,2,0,320.0099999999999909,'320.01','hmean',NULL,'',NULL,0.0,'better',0,2);
INSERT INTO summaries VALUES('mail-20261201-1',3,3,2,0,640.50000000000000001,'640.50','hmean',NULL,'',NULL,0.0,'better',0,3);
INSERT INTO summaries VALUES('mail-20261201-1',4,2,2,0,318.02999999999997271,'318.03','hmean',NULL,'',NULL,-0.61999999999999999555,'better',1,2);
INSERT INTO summaries VALUES('mail-20261201-1',4,3,2,0,700.25,'700.25','hmean',NULL,'',NULL,9.330000000000000071,'better',1,3);
CREATE TABLE facts (
	scope TEXT NOT NULL CHECK (scope IN ('campaign', 'machine', 'boot', 'run', 'variant')),
	scope_id TEXT NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (scope, scope_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO facts VALUES('boot','1','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('boot','2','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('boot','3','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('boot','4','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('boot','5','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('boot','6','cmdline','mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy clocksource=kvm-clock pti=on no_timer_check tsc=reliable pvm_no_zero_page=1 tsc=unstable rcupdate.rcu_cpu_stall_cputime=1 sched_vcpu_pack=15 rdinit=/process_api -- --firecracker-init --addr 0.0.0.0:2024 --max-ws-buffer-size 32768 --block-local-connections --log-vsock-port 5002 --control-vsock-port 5001 --listen-vsock-port 2024 --tcp-readiness-only --auth-required');
INSERT INTO facts VALUES('campaign','mail-20261201-1','source_sha256','46075c023cd0cdca731f6dc85503dbcfce42f8416167d12a512214ea390f444f');
INSERT INTO facts VALUES('campaign','old-20261201-1','aslr','2');
INSERT INTO facts VALUES('campaign','old-20261201-1','autogroup','1');
INSERT INTO facts VALUES('campaign','old-20261201-1','idle_driver','none');
INSERT INTO facts VALUES('campaign','old-20261201-1','loadavg','7.13 7.37 7.54 5/130 22047');
INSERT INTO facts VALUES('campaign','old-20261201-1','numa_balancing','0');
INSERT INTO facts VALUES('campaign','old-20261201-1','smt','0');
INSERT INTO facts VALUES('campaign','old-20261201-1','time_split.boot','0.002');
INSERT INTO facts VALUES('campaign','old-20261201-1','time_split.rest','0.202');
INSERT INTO facts VALUES('campaign','old-20261201-1','time_split.run','0.158');
INSERT INTO facts VALUES('campaign','old-20261201-1','transparent_hugepage','always [madvise] never');
CREATE TABLE verdicts (
	campaign_id TEXT NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
	variant_id INTEGER NOT NULL REFERENCES variants(id),
	case_id INTEGER NOT NULL REFERENCES test_cases(id),
	metric_id INTEGER NOT NULL REFERENCES metrics(id),
	verdict TEXT NOT NULL,
	PRIMARY KEY (campaign_id, variant_id, case_id, metric_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX boots_by_campaign ON boots(campaign_id);
CREATE INDEX runs_by_campaign ON runs(campaign_id, variant_id, case_id);
CREATE INDEX runs_by_cell ON runs(cell_id);
CREATE INDEX raws_by_run ON raws(run_id);
CREATE VIEW units AS
SELECT r.campaign_id, r.case_id, s.metric_id, r.variant_id, min(r.block) AS block,
	avg(s.value) AS value
FROM campaigns c
JOIN runs r ON r.campaign_id = c.id AND r.outcome = 'ok'
JOIN samples s ON s.run_id = r.id
GROUP BY r.campaign_id, r.case_id, s.metric_id, r.variant_id,
	CASE WHEN c.unit = 'boot' AND r.boot_id IS NOT NULL THEN -r.boot_id ELSE r.id END;
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
	AND v.case_id = c.case_id AND v.metric_id = c.metric_id
;
COMMIT;
PRAGMA user_version = 1;
