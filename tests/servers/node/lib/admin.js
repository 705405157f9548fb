// What the owner asks and changes; each request carries the owner's word.
'use strict';

const express = require('express');
const { handler, numberOf } = require('./api');
const { badRequest, forbidden } = require('./errors');

const WORD = 'open sesame';

function admin(shop) {
	const router = express.Router();

	router.use((request, response, next) => next(request.get('X-Word') === WORD ? undefined : forbidden()));
	router.use(express.json({ limit: '10kb' }));

	router.get('/figures', (request, response) => {
		response.json({ turnover: shop.orders.turnover(), letters: shop.outbox.figures() });
	});

	router.get('/log', (request, response) => {
		response.type('text').send(shop.audit.last(numberOf(request.query.lines, 20)).map((line) => `${line}\n`).join(''));
	});

	router.post('/articles', handler(async (request, response) => {
		const { name, title, pieces = 0 } = request.body;

		if (!name || !title)
			throw badRequest('an article has a name and a title');
		const shelf = await shop.shelves.create(name, { title, pieces });

		shop.audit.log(`new article ${name}`);
		response.status(201).json(shelf.describe());
	}));

	router.put('/prices/:article', handler(async (request, response) => {
		const { article } = shop.shelves.get(request.params.article);

		await shop.prices.set(article, numberOf(request.query.least, 1), numberOf(request.query.cents));
		response.json(shop.prices.describe());
	}));

	router.put('/vouchers/:name', (request, response) => {
		shop.prices.addVoucher(request.params.name, numberOf(request.query.percent));
		response.send('noted\n');
	});

	router.post('/sessions/give-up', (request, response) => {
		response.send(`${shop.sessions.giveUp()}\n`);
	});

	return router;
}

module.exports = { admin };
