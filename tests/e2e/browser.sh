# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A browser ($browser) and what drives it ($modules), or the test is skipped; sourced after lib.sh.
# axe-core and puppeteer-core come by npm into the build folder.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$browser" ] && command -v node npm >/dev/null || { echo "chromium and node are not installed"; exit 77; }
modules=$O/npm
if [ ! -d "$modules/node_modules/axe-core" ] || [ ! -d "$modules/node_modules/puppeteer-core" ]; then
	mkdir -p "$modules"
	timeout 180 npm install --prefix "$modules" --no-audit --no-fund --ignore-scripts \
		axe-core@4 puppeteer-core@24 >"$T/npm" 2>&1 ||
		{ echo "axe-core and puppeteer-core cannot be fetched"; exit 77; }
fi
