// Prices of articles, lower for many pieces, and vouchers.
'use strict';

const { badRequest } = require('./errors');

class Prices {
	constructor(files) {
		this.files = files;
		this.steps = new Map();
		this.vouchers = new Map([['welcome', 10]]);
	}

	async open(first) {
		const names = await this.files.names('prices');

		for (const name of names)
			this.steps.set(name, await this.files.read('prices', name));
		if (names.length)
			return;
		for (const [article, steps] of Object.entries(first)) {
			this.steps.set(article, steps);
			await this.files.write('prices', article, steps);
		}
	}

	async set(article, least, cents) {
		const steps = (this.steps.get(article) || []).filter((step) => step.least !== least);

		if (!(least > 0 && cents > 0))
			throw badRequest('a price has a number of pieces and of cents');
		steps.push({ least, cents });
		steps.sort((a, b) => a.least - b.least);
		this.steps.set(article, steps);
		await this.files.write('prices', article, steps);
	}

	addVoucher(name, percent) {
		if (!(percent > 0 && percent < 100))
			throw badRequest('a voucher takes 1 to 99 percent off');
		this.vouchers.set(name, percent);
	}

	/* Cents for so many pieces. */
	of(article, pieces, voucher) {
		let cents = 0;

		for (const step of this.steps.get(article) || [])
			if (pieces >= step.least)
				cents = step.cents * pieces;
		return cents - Math.floor(cents * (this.vouchers.get(voucher) || 0) / 100);
	}

	describe() {
		return Object.fromEntries(this.steps);
	}
}

module.exports = { Prices };
