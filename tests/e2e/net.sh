# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Servers on the loopback for the tests of the network; sourced after lib.sh.
export HOME=$T no_proxy=127.0.0.1,localhost
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
command -v openssl >/dev/null || { echo "openssl is not installed"; exit 77; }
# Debian's packages belong to Debian's Python.
mail_python=
for p in python3 /usr/bin/python3; do
	[ -n "$mail_python" ] || ! "$p" -c 'import aiosmtpd' 2>/dev/null || mail_python=$p
done
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$T"' EXIT

# certificate NAME: a self-signed one for 127.0.0.1 in $T/NAME.pem with its key in $T/NAME.key
certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
		-addext subjectAltName=IP:127.0.0.1 -keyout "$T/$1.key" -out "$T/$1.pem" >"$T/openssl" 2>&1 ||
		fail "openssl: $(cat "$T/openssl")"
}

# serve PORTFILE PROGRAM ARGS...: starts a server and sets $port to what it writes there
serve() {
	local file=$1 i; shift
	rm -f "$file"
	"$@" >"$T/server" 2>&1 </dev/null &
	servers+=($!)
	for ((i = 0; i < 200; i++)); do
		[ ! -e "$file" ] || { port=$(cat "$file"); return; }
		sleep 0.05
	done
	fail "no server: $(cat "$T/server")"
}

# serve_mail KIND: a server of mailserver.py, its address in $host
serve_mail() {
	serve "$T/$1.port" "$mail_python" tests/e2e/mailserver.py "$T" "$1" "$T/server.pem" "$T/server.key"
	host=127.0.0.1:$port
}
