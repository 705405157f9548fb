// The cart of a session.
'use strict';

const express = require('express');
const { handler, numberOf } = require('./api');

function carts(shop) {
	const router = express.Router();

	router.use(shop.sessions.middleware());

	router.get('/', (request, response) => {
		response.json(Object.fromEntries(request.session.cart));
	});

	router.post('/pay', handler(async (request, response) => {
		const { cart } = request.session;

		request.session.cart = new Map();
		response.json(await shop.buyAll(request.query.buyer || 'somebody', cart, request.query.voucher));
	}));

	router.post('/:name', (request, response) => {
		const { cart } = request.session;
		const { article } = shop.shelves.get(request.params.name);
		const pieces = (cart.get(article) || 0) + numberOf(request.query.number, 1);

		if (pieces > 0)
			cart.set(article, pieces);
		else
			cart.delete(article);
		response.json(Object.fromEntries(cart));
	});

	return router;
}

module.exports = { carts };
