// Two promises read a number from a file and write it back plus one.
'use strict';
const fs = require('fs').promises;

async function add() {
	const n = Number(await fs.readFile('number', 'utf8'));

	await fs.writeFile('number', String(n + 1));
}

async function main() {
	await fs.writeFile('number', '0');
	const first = add();

	if (process.argv[2] === 'fixed')
		await first;
	else
		await fs.readFile(__filename);	// long enough, most times
	await Promise.all([first, add()]);
	if (await fs.readFile('number', 'utf8') !== '2')
		process.exit(1);
}
main();
