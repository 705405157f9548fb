// Orders, each in a file, and the customers that made them.
'use strict';

const { notFound, refused } = require('./errors');

class Orders {
	constructor(files) {
		this.files = files;
		this.all = new Map();
		this.next = 1;
	}

	async open() {
		for (const name of await this.files.names('orders')) {
			const order = await this.files.read('orders', name);

			this.all.set(order.number, order);
			this.next = Math.max(this.next, order.number + 1);
		}
	}

	async add(customer, article, pieces, cents) {
		const order = { number: this.next++, customer, article, pieces, cents, state: 'open' };

		this.all.set(order.number, order);
		await this.files.write('orders', String(order.number), order);
		return order;
	}

	get(number) {
		const order = this.all.get(number);

		if (!order)
			throw notFound(`order: ${number}`);
		return order;
	}

	async setState(number, from, to) {
		const order = this.get(number);

		if (order.state !== from)
			throw refused(`the order is ${order.state}`);
		order.state = to;
		await this.files.write('orders', String(number), order);
		return order;
	}

	of(customer) {
		return [...this.all.values()].filter((order) => order.customer === customer);
	}

	turnover() {
		return [...this.all.values()].filter((order) => order.state !== 'returned')
			.reduce((sum, order) => sum + order.cents, 0);
	}
}

module.exports = { Orders };
