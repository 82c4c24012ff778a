for (const table of document.querySelectorAll("table.list")) {
	const body = table.tBodies[0], rows = [...body.rows];
	const label = document.createElement("label"), input = document.createElement("input");
	label.append("Show rows with ", input);
	input.addEventListener("input", () => {
		for (const row of rows)
			row.hidden = !row.textContent.toLowerCase().includes(input.value.toLowerCase());
	});
	if (rows.length > 8)
		table.parentNode.before(label);
	[...table.tHead.rows[0].cells].forEach((cell, column) => {
		if (!cell.textContent)
			return;
		const button = document.createElement("button");
		button.append(...cell.childNodes);
		cell.append(button);
		button.addEventListener("click", () => {
			const sign = cell.ariaSort === "ascending" ? -1 : 1;
			const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
			for (const other of table.tHead.rows[0].cells)
				other.ariaSort = "none";
			cell.ariaSort = sign > 0 ? "ascending" : "descending";
			rows.sort((a, b) => sign * key(a).localeCompare(key(b), "en", {numeric: true}));
			body.append(...rows);
		});
	});
}
