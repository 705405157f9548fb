// All parts of the shop, and what they do together.
'use strict';

const { Audit } = require('./audit');
const { refused } = require('./errors');
const { Files } = require('./files');
const { Orders } = require('./orders');
const { Outbox } = require('./outbox');
const { Prices } = require('./prices');
const { Sessions } = require('./sessions');
const { Shelves } = require('./shelves');

const STOCK = {
	tea: { title: 'Green tea, 100 g', pieces: 8 },
	mug: { title: 'A mug', pieces: 2 },
	pot: { title: 'A pot of cast iron', pieces: 1 },
};
const PRICES = {
	tea: [{ least: 1, cents: 450 }, { least: 5, cents: 400 }],
	mug: [{ least: 1, cents: 900 }],
	pot: [{ least: 1, cents: 4900 }],
};

class Shop {
	constructor(folder) {
		this.files = new Files(folder);
		this.shelves = new Shelves(this.files);
		this.prices = new Prices(this.files);
		this.orders = new Orders(this.files);
		this.audit = new Audit(this.files);
		this.sessions = new Sessions();
		this.outbox = new Outbox();
	}

	async open() {
		await this.files.create('shelves', 'prices', 'orders');
		await this.shelves.open(STOCK);
		await this.prices.open(PRICES);
		await this.orders.open();
	}

	async close() {
		await this.audit.flush();
	}

	async buy(customer, article, pieces, voucher) {
		if (!(pieces >= 1))
			throw refused('at least one piece');
		if (!await this.shelves.get(article).take(pieces)) {
			this.audit.log(`refused ${pieces} ${article} to ${customer}`);
			throw refused('too few are left');
		}
		const cents = this.prices.of(article, pieces, voucher);
		const order = await this.orders.add(customer, article, pieces, cents);

		this.audit.log(`sold ${pieces} ${article} to ${customer} for ${cents}`);
		this.outbox.send(customer, `your order ${order.number} of ${pieces} ${article} is on its way`);
		return order;
	}

	/* A whole cart: the orders, and what was refused. */
	async buyAll(customer, cart, voucher) {
		const orders = [], notSold = [];

		for (const [article, pieces] of cart)
			try {
				orders.push(await this.buy(customer, article, pieces, voucher));
			} catch (error) {
				if (!error.status)
					throw error;
				notSold.push({ article, why: error.message });
			}
		return { orders, refused: notSold };
	}

	async deliver(article, pieces) {
		if (!(pieces >= 1))
			throw refused('at least one piece');
		await this.shelves.get(article).add(pieces);
		this.audit.log(`${pieces} ${article} were delivered`);
	}

	async takeBack(number) {
		const order = await this.orders.setState(number, 'open', 'returned');

		await this.shelves.get(order.article).add(order.pieces);
		this.audit.log(`order ${number} came back`);
		return order;
	}
}

module.exports = { Shop };
