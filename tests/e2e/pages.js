// SPDX-License-Identifier: GPL-2.0-or-later
// pages.js MODULES BROWSER FOLDER: opens the index and a page of a metric, filters and sorts.
const fs = require("fs"), path = require("path");
const [modules, browser, folder] = process.argv.slice(2);
const b = require("./browser.js")(modules, browser), { complain } = b;

async function open(chrome, file, width, script) {
	const where = `${path.basename(file)} ${width}:`;
	const page = await b.open(chrome, width, where, script,
				  (url) => url.startsWith("file://" + folder));

	await page.goto("file://" + file);
	await b.check_width(page, width, where);
	return [page, where];
}

async function look(chrome, file, width) {
	const [bare] = await open(chrome, file, width, false);
	await bare.close();
	const [page, where] = await open(chrome, file, width, true);
	await b.check_axe(page, where);
	return [page, where];
}

const first = (page) => page.$$eval("table.list", (all) => {
	const t = all.find((x) => x.rows.length > 9);
	return [...t.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[0].textContent);
});

b.run(async (chrome) => {
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
});
