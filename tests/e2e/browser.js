// SPDX-License-Identifier: GPL-2.0-or-later
// What html.js and pages.js share: a page opened so that whatever a reader would notice is said.
const fs = require("fs"), path = require("path");

module.exports = (modules, browser) => {
	const from = (name) => require(path.resolve(modules, "node_modules", name));
	const axe = fs.readFileSync(path.resolve(modules, "node_modules/axe-core/axe.min.js"), "utf8");
	let bad = 0;

	function complain(...words) {
		bad = 1;
		console.log(...words);
	}

	return {
		complain,
		// The exit code goes with it.
		async run(use) {
			try {
				const chrome = await from("puppeteer-core").launch({
					executablePath: browser, args: ["--no-sandbox", "--disable-gpu"],
					protocolTimeout: 100000 });
				await use(chrome);
				await chrome.close();
			} catch (e) {
				bad = 1;
				console.log(e.stack);
			}
			process.exit(bad);
		},
		// is_own: which addresses the page may ask for.
		async open(chrome, width, where, script, is_own) {
			const page = await chrome.newPage();

			await page.setBypassCSP(true); // for axe, which is put into the page
			page.on("console", (m) => complain(where, "console:", m.text()));
			page.on("pageerror", (e) => complain(where, "error:", e.message));
			page.on("request", (r) => {
				if (!is_own(r.url()) && !r.url().startsWith("data:"))
					complain(where, "fetches", r.url());
			});
			page.on("dialog", (d) => complain(where, "dialog:", d.message()));
			await page.setJavaScriptEnabled(script);
			await page.setViewport({ width, height: 900 });
			return page;
		},
		async check_width(page, width, where) {
			const wide = await page.evaluate(() => document.documentElement.scrollWidth);

			if (wide > width)
				complain(where, `the page is ${wide} wide`);
		},
		async check_axe(page, where) {
			await page.evaluate(axe);
			for (const v of await page.evaluate(() => axe.run().then((r) => r.violations)))
				complain(where, v.id, v.help, v.nodes[0].html, v.nodes[0].failureSummary);
		},
	};
};
