// Sessions: a cookie names one, which has a cart. What nobody has touched for an hour is given up.
'use strict';

const crypto = require('crypto');

const LIFETIME = 3600 * 1000;

class Sessions {
	constructor() {
		this.all = new Map();
	}

	open() {
		const name = crypto.randomBytes(12).toString('hex');
		const session = { name, cart: new Map(), touched: Date.now() };

		this.all.set(name, session);
		return session;
	}

	find(name) {
		const session = this.all.get(name);

		if (!session || session.touched < Date.now() - LIFETIME)
			return undefined;
		session.touched = Date.now();
		return session;
	}

	giveUp() {
		const oldest = Date.now() - LIFETIME;
		let number = 0;

		for (const [name, session] of this.all)
			if (session.touched < oldest) {
				this.all.delete(name);
				number++;
			}
		return number;
	}

	/* For express: request.session */
	middleware() {
		return (request, response, next) => {
			const cookie = (request.headers.cookie || '').split(/;\s*/).find((c) => c.startsWith('session='));

			request.session = cookie && this.find(cookie.slice('session='.length));
			if (!request.session) {
				request.session = this.open();
				response.cookie('session', request.session.name, { httpOnly: true, sameSite: 'strict' });
			}
			next();
		};
	}
}

module.exports = { Sessions };
