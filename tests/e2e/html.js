// SPDX-License-Identifier: GPL-2.0-or-later
// html.js MODULES BROWSER PAGE...: opens pages and complains about what a reader would notice.
// With SHOTS=FOLDER it leaves pictures there.
const path = require("path");
const [modules, browser, ...pages] = process.argv.slice(2);
const b = require("./browser.js")(modules, browser), { complain } = b;

async function open(chrome, file, width, scheme) {
	const where = `${path.basename(file)} ${width} ${scheme}:`;
	const page = await b.open(chrome, width, where, false, (url) => url === "file://" + file);

	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
	await page.goto("file://" + file);
	return [page, where];
}

const is_open = (page) => page.$eval("details", (d) => d.open);

async function look(chrome, file, width, scheme) {
	const [page, where] = await open(chrome, file, width, scheme);

	await b.check_width(page, width, where);
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
	await b.check_axe(page, where);
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

b.run(async (chrome) => {
	for (const file of pages) {
		await look(chrome, path.resolve(file), 400, "light");
		await look(chrome, path.resolve(file), 1400, "dark");
	}
	await look(chrome, path.resolve(pages[0]), 400, "dark");
	await look(chrome, path.resolve(pages[0]), 1400, "light");
	await print(chrome, path.resolve(pages[0]));
});
