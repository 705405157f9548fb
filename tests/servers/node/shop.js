// A shop with an interface by HTTP, which keeps what it has in files: it may be started anew at any time.
'use strict';

const fs = require('fs').promises;
const http = require('http');
const path = require('path');

class Shelf {
	constructor(folder, article, pieces) {
		this.file = path.join(folder, `${article}.json`);
		this.article = article;
		this.pieces = pieces;
	}

	async save() {
		await fs.writeFile(this.file, JSON.stringify({ article: this.article, pieces: this.pieces }));
	}

	async saved() {
		return JSON.parse(await fs.readFile(this.file, 'utf8')).pieces;
	}

	async take(number) {
		if (this.pieces < number)
			return false;
		this.pieces -= number;
		await this.save();
		return true;
	}

	async add(number) {
		this.pieces += number;
		await this.save();
	}
}

class Shop {
	constructor(folder) {
		this.folder = folder;
		this.shelves = new Map();
		this.log = [];
	}

	async open(stock) {
		await fs.mkdir(this.folder, { recursive: true });
		for (const [article, pieces] of Object.entries(stock)) {
			const shelf = new Shelf(this.folder, article, pieces);

			await shelf.save();
			this.shelves.set(article, shelf);
		}
	}

	shelf(article) {
		const shelf = this.shelves.get(article);

		if (!shelf)
			throw new Error(`no such article: ${article}`);
		return shelf;
	}

	async buy({ article, buyer = 'somebody', number = '1' }) {
		const sold = await this.shelf(article).take(Number(number));

		this.log.push(`${sold ? 'sold' : 'refused'} ${article} ${buyer}`);
		return sold ? `sold ${article}\n` : `no ${article}\n`;
	}

	async deliver({ article, number = '1' }) {
		await this.shelf(article).add(Number(number));
		return 'thanks\n';
	}

	/* what is there if the shop is started anew */
	async total() {
		let sum = 0;

		for (const shelf of this.shelves.values())
			sum += await shelf.saved();
		return `${sum}\n`;
	}

	async sales() {
		return this.log.map((line) => `${line}\n`).join('');
	}

	async answer(request) {
		const url = new URL(request.url, 'http://shop');
		const query = Object.fromEntries(url.searchParams);

		switch (url.pathname) {
		case '/buy':
			return this.buy(query);
		case '/deliver':
			return this.deliver(query);
		case '/total':
			return this.total();
		case '/sales':
			return this.sales();
		default:
			throw new Error(`no such page: ${url.pathname}`);
		}
	}
}

async function main() {
	const shop = new Shop('shelves');
	const server = http.createServer(async (request, response) => {
		try {
			response.end(await shop.answer(request));
		} catch (error) {
			response.statusCode = 400;
			response.end(`${error.message}\n`);
		}
	});

	await shop.open({ tea: 8, mugs: 2 });
	server.listen(8080, '127.0.0.1', () => console.log('listening on 8080'));
}

main();
