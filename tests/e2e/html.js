// SPDX-License-Identifier: GPL-2.0-or-later
// html.js MODULES BROWSER PAGE...: opens pages and complains about what a reader would notice.
// With SHOTS=FOLDER it leaves pictures there.
const fs = require("fs"), path = require("path");
const [modules, browser, ...pages] = process.argv.slice(2);
const from = (name) => require(path.resolve(modules, "node_modules", name));
const axe = fs.readFileSync(path.resolve(modules, "node_modules/axe-core/axe.min.js"), "utf8");
let bad = 0;

function complain(...words) {
	bad = 1;
	console.log(...words);
}

async function open(chrome, file, width, scheme) {
	const page = await chrome.newPage(), where = `${path.basename(file)} ${width} ${scheme}:`;

	await page.setBypassCSP(true); // for axe, which is put into the page
	page.on("console", (m) => complain(where, "console:", m.text()));
	page.on("pageerror", (e) => complain(where, "error:", e.message));
	page.on("request", (r) => {
		if (r.url() !== "file://" + file && !r.url().startsWith("data:"))
			complain(where, "fetches", r.url());
	});
	page.on("dialog", (d) => complain(where, "dialog:", d.message()));
	await page.setJavaScriptEnabled(false);
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
	await page.setViewport({ width, height: 900 });
	await page.goto("file://" + file);
	return [page, where];
}

const is_open = (page) => page.$eval("details", (d) => d.open);

async function look(chrome, file, width, scheme) {
	const [page, where] = await open(chrome, file, width, scheme);
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);

	if (wide > width)
		complain(where, `the page is ${wide} wide`);
	if (await is_open(page))
		complain(where, "a row is open from the start");
	await page.click("details > summary");
	if (!(await is_open(page)))
		complain(where, "a row does not open without JavaScript");
	if (process.env.SHOTS)
		await page.screenshot({ fullPage: true, path: path.join(process.env.SHOTS,
			`${path.basename(file, ".html")}-${width}-${scheme}.png`) });
	await page.click("details > summary");
	if (await is_open(page))
		complain(where, "a row does not close again");
	await page.setJavaScriptEnabled(true); // which axe needs
	await page.reload();
	await page.$$eval("details", (all) => all.slice(0, 4).forEach((d) => (d.open = true)));
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run().then((r) => r.violations));
	for (const v of found)
		complain(where, v.id, v.help, v.nodes[0].html, v.nodes[0].failureSummary);
	await page.close();
}

// Closed rows are on paper too, where the browser knows ::details-content.
async function print(chrome, file) {
	const [page, where] = await open(chrome, file, 700, "dark");

	await page.emulateMediaType("print");
	const known = await page.evaluate(() => CSS.supports("selector(::details-content)"));
	const height = await page.$eval("details > ul", (e) => e.getBoundingClientRect().height);
	const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	if (known && !height)
		complain(where, "closed rows are not printed");
	if (back !== "rgb(255, 255, 255)")
		complain(where, "paper is not white but", back);
	await page.close();
}

(async () => {
	const chrome = await from("puppeteer-core").launch({
		executablePath: browser, args: ["--no-sandbox", "--disable-gpu"],
		protocolTimeout: 100000 });

	for (const file of pages) {
		await look(chrome, path.resolve(file), 400, "light");
		await look(chrome, path.resolve(file), 1400, "dark");
	}
	await look(chrome, path.resolve(pages[0]), 400, "dark");
	await look(chrome, path.resolve(pages[0]), 1400, "light");
	await print(chrome, path.resolve(pages[0]));
	await chrome.close();
	process.exit(bad);
})().catch((e) => {
	console.log(e.stack);
	process.exit(1);
});
