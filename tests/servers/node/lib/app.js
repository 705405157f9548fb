// The routes, from the first to the last that may answer.
'use strict';

const express = require('express');
const { admin } = require('./admin');
const { api } = require('./api');
const { carts } = require('./carts');
const { notFound } = require('./errors');
const { pages } = require('./pages');

function createApp(shop) {
	const app = express();

	app.disable('x-powered-by');
	app.use('/admin', admin(shop));
	app.use('/cart', carts(shop));
	app.use(api(shop));
	app.use(pages(shop));
	app.use((request, response, next) => next(notFound(`page: ${request.path}`)));
	/* express knows a handler of errors by its four arguments */
	app.use((error, request, response, next) => {
		if (response.headersSent)
			return next(error);
		return response.status(error.status || 500).type('text').send(`${error.message}\n`);
	});
	return app;
}

module.exports = { createApp };
