// What customers are told. What cannot be delivered is tried again, three times.
'use strict';

const { EventEmitter } = require('events');

const TRIES = 3;

class Outbox extends EventEmitter {
	constructor(deliver) {
		super();
		this.waiting = [];
		this.sent = [];
		this.givenUp = 0;
		this.busy = false;
		this.deliver = deliver || (async (customer, text) => this.sent.push({ customer, text }));
		this.on('letter', () => this.work());
	}

	send(customer, text) {
		this.waiting.push({ customer, text, tries: 0 });
		this.emit('letter');
	}

	async work() {
		if (this.busy)
			return;
		this.busy = true;
		while (this.waiting.length) {
			const letter = this.waiting.shift();

			try {
				await this.deliver(letter.customer, letter.text);
			} catch (error) {
				if (++letter.tries < TRIES)
					this.waiting.push(letter);
				else
					this.givenUp++;
			}
		}
		this.busy = false;
	}

	of(customer) {
		return this.sent.filter((letter) => letter.customer === customer).map((letter) => letter.text);
	}

	figures() {
		return { waiting: this.waiting.length, sent: this.sent.length, givenUp: this.givenUp };
	}
}

module.exports = { Outbox };
