// SPDX-License-Identifier: GPL-2.0-or-later
// pages.js MODULES BROWSER FOLDER: opens the index and a page of a metric, filters and sorts.
const fs = require("fs"), path = require("path");
const [modules, browser, folder] = process.argv.slice(2);
const from = (name) => require(path.resolve(modules, "node_modules", name));
const axe = fs.readFileSync(path.resolve(modules, "node_modules/axe-core/axe.min.js"), "utf8");
let bad = 0;

function complain(...words) {
	bad = 1;
	console.log(...words);
}

async function open(chrome, file, width, script) {
	const page = await chrome.newPage(), where = `${path.basename(file)} ${width}:`;

	await page.setBypassCSP(true); // for axe, which is put into the page
	page.on("console", (m) => complain(where, "console:", m.text()));
	page.on("pageerror", (e) => complain(where, "error:", e.message));
	page.on("request", (r) => {
		if (!r.url().startsWith("file://" + folder) && !r.url().startsWith("data:"))
			complain(where, "fetches", r.url());
	});
	await page.setJavaScriptEnabled(script);
	await page.setViewport({ width, height: 900 });
	await page.goto("file://" + file);
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);
	if (wide > width)
		complain(where, `the page is ${wide} wide`);
	return [page, where];
}

async function look(chrome, file, width) {
	const [bare] = await open(chrome, file, width, false);
	await bare.close();
	const [page, where] = await open(chrome, file, width, true);
	await page.evaluate(axe);
	for (const v of await page.evaluate(() => axe.run().then((r) => r.violations)))
		complain(where, v.id, v.help, v.nodes[0].html, v.nodes[0].failureSummary);
	return [page, where];
}

const first = (page) => page.$$eval("table.list", (all) => {
	const t = all.find((x) => x.rows.length > 9);
	return [...t.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[0].textContent);
});

(async () => {
	const chrome = await from("puppeteer-core").launch({ executablePath: browser,
		args: ["--no-sandbox", "--disable-gpu"] });
	const metric = fs.readdirSync(folder).find((n) => n.startsWith("metric-"));

	for (const width of [1200, 420]) {
		const [page, where] = await look(chrome, path.join(folder, "index.html"), width);
		const all = await first(page);
		await page.type("input", "clients=7");
		const some = await first(page);
		if (!some.length || some.length >= all.length || !some.every((t) => t.includes("clients=7")))
			complain(where, "the filter shows", some.length, "of", all.length);
		await page.$eval("input", (i) => { i.value = ""; i.dispatchEvent(new Event("input")); });
		await page.click("th button");
		const up = await first(page);
		await page.click("th button");
		const down = await first(page);
		if (up.join() !== [...down].reverse().join() || up.length !== all.length)
			complain(where, "sorting: ", up.slice(0, 3), down.slice(0, 3));
		await page.close();
		await (await look(chrome, path.join(folder, metric), width))[0].close();
	}
	await chrome.close();
	process.exit(bad);
})();
