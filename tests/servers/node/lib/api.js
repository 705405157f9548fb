// What programs ask: plain text and JSON.
'use strict';

const express = require('express');
const { badRequest } = require('./errors');

/* Errors of handlers that wait go where those of others go. */
const handler = (work) => (request, response, next) => work(request, response).catch(next);

function numberOf(text, preset) {
	const number = text === undefined ? preset : Number(text);

	if (!Number.isInteger(number))
		throw badRequest(`no number: ${text}`);
	return number;
}

function api(shop) {
	const router = express.Router();

	router.get('/total', handler(async (request, response) => {
		response.send(`${await shop.shelves.total()}\n`);
	}));

	router.get('/articles', (request, response) => {
		response.json(shop.shelves.describe());
	});

	router.get('/articles/:name', (request, response) => {
		const { name } = request.params;

		response.json({ ...shop.shelves.get(name).describe(), cents: shop.prices.of(name, 1) });
	});

	router.get('/prices', (request, response) => {
		response.json(shop.prices.describe());
	});

	router.post('/buy', handler(async (request, response) => {
		const { buyer = 'somebody', article = 'tea', number, voucher } = request.query;

		await shop.buy(buyer, article, numberOf(number, 1), voucher);
		response.send(`sold ${article}\n`);
	}));

	router.post('/deliver', handler(async (request, response) => {
		await shop.deliver(request.query.article || 'tea', numberOf(request.query.number, 1));
		response.send('thanks\n');
	}));

	router.get('/orders/:number', (request, response) => {
		response.json(shop.orders.get(numberOf(request.params.number)));
	});

	router.post('/orders/:number/return', handler(async (request, response) => {
		response.json(await shop.takeBack(numberOf(request.params.number)));
	}));

	router.get('/customers/:name/orders', (request, response) => {
		response.json(shop.orders.of(request.params.name));
	});

	router.get('/customers/:name/letters', (request, response) => {
		response.json(shop.outbox.of(request.params.name));
	});

	return router;
}

module.exports = { api, handler, numberOf };
