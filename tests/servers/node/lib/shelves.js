// What is there, by article: in memory, and in a file for each article.
'use strict';

const { notFound } = require('./errors');

class Shelf {
	constructor(files, article, { title, pieces }) {
		this.files = files;
		this.article = article;
		this.title = title;
		this.pieces = pieces;
	}

	async save() {
		await this.files.write('shelves', this.article, { title: this.title, pieces: this.pieces });
	}

	async saved() {
		const state = await this.files.read('shelves', this.article);

		return state ? state.pieces : 0;
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

	describe() {
		return { article: this.article, title: this.title, pieces: this.pieces };
	}
}

class Shelves {
	constructor(files) {
		this.files = files;
		this.all = new Map();
	}

	/* What an earlier start has left, or the first stock. */
	async open(stock) {
		const names = await this.files.names('shelves');

		for (const name of names)
			this.all.set(name, new Shelf(this.files, name, await this.files.read('shelves', name)));
		if (names.length)
			return;
		for (const [name, state] of Object.entries(stock))
			await this.create(name, state);
	}

	async create(name, state) {
		const shelf = new Shelf(this.files, name, state);

		await shelf.save();
		this.all.set(name, shelf);
		return shelf;
	}

	get(article) {
		const shelf = this.all.get(article);

		if (!shelf)
			throw notFound(`article: ${article}`);
		return shelf;
	}

	/* what is there if the shop is started anew */
	async total() {
		let sum = 0;

		for (const shelf of this.all.values())
			sum += await shelf.saved();
		return sum;
	}

	describe() {
		return [...this.all.values()].map((shelf) => shelf.describe());
	}
}

module.exports = { Shelves };
