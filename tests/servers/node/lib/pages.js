// What people look at.
'use strict';

const express = require('express');

const NAMES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text) => String(text).replace(/[&<>"']/g, (c) => NAMES[c]);
const euros = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} EUR`;

function page(title, rows, note = '') {
	const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`);

	return `<!doctype html>
<title>${escape(title)}</title>
<h1>${escape(title)}</h1>
<table>
${lines.join('\n') || '<tr><td>nothing</td></tr>'}
</table>
<p>${escape(note)}</p>
`;
}

function pages(shop) {
	const router = express.Router();

	router.get('/', (request, response) => {
		const rows = shop.shelves.describe()
			.map(({ article, title, pieces }) => [title, pieces, euros(shop.prices.of(article, 1))]);

		response.send(page('The shop', rows));
	});

	router.get('/my/orders/:name', (request, response) => {
		const rows = shop.orders.of(request.params.name)
			.map((order) => [order.number, order.article, order.pieces, order.state]);

		response.send(page(`Orders of ${request.params.name}`, rows));
	});

	return router;
}

module.exports = { pages };
