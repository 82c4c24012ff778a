# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A lab of three nodes n1, n2, n3 whose kernels are files ($KDELTA_FAKE, see tests/fakes/slurm), and
# a campaign for it; sourced after lib.sh.
export KDELTA_FAKE=$T/fake
mkdir -p "$T/fake/n1" "$T/fake/n2" "$T/fake/n3" "$T/shared" "$T/bin"
for program in sbatch squeue sinfo scancel scontrol boot; do ln -s "$PWD/tests/fakes/slurm" "$T/bin/$program"; done

# lab NAME REPEAT [KEY: VALUE...]: further keys of the mapping `slurm`
lab() {
	local name=$1 repeat=$2; shift 2
	cat >"$T/$name.yaml" <<EOF
campaign: $name
backend: slurm
repeat: $repeat
seed: 7
variants:
  - {name: a, kernel: {release: 6.1.0-old}}
  - {name: b, kernel: {release: 6.1.0-new}}
benchmarks:
  - count: {n: ${CASES:-[1, 2]}}
slurm:
  nodes: [n1, n2, n3]
  folder: $T/shared
  features: {a: old, b: new}
  poll: ${POLL:-50ms}
EOF
	printf '  %s\n' "$@" >>"$T/$name.yaml"
}

# every run was made under its variant's kernel, every boot served one visit
honest() {
	local wrong
	wrong=$(sqlite3 "$KDELTA_DB" "
		SELECT 'run ' || r.id FROM runs r JOIN boots b ON b.id = r.boot_id
			JOIN campaign_variants v ON v.campaign_id = r.campaign_id AND v.variant_id = r.variant_id
			WHERE b.release != CASE v.name WHEN 'a' THEN '6.1.0-old' ELSE '6.1.0-new' END;
		SELECT 'boot ' || boot_id FROM boots GROUP BY boot_id HAVING count(*) > 1;
		SELECT 'open ' || id FROM cells WHERE state = 'planned'")
	[ -z "$wrong" ] || fail "stored: $wrong"
}
# counts NODE STATE: cells in that state
counts() {
	sqlite3 "$KDELTA_DB" "SELECT count(*) FROM cells l JOIN campaigns c ON c.id = l.campaign_id
		WHERE c.name LIKE '%-$1' AND l.state = '$2'"
}
