// What goes wrong, with the status of the answer.
'use strict';

class ShopError extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

const notFound = (what) => new ShopError(404, `no such ${what}`);
const refused = (why) => new ShopError(409, `no: ${why}`);
const badRequest = (why) => new ShopError(400, why);
const forbidden = () => new ShopError(403, 'the word is missing');

module.exports = { ShopError, notFound, refused, badRequest, forbidden };
