// The log: lines are appended to a file one after another, however many requests have some.
'use strict';

class Audit {
	constructor(files) {
		this.files = files;
		this.lines = [];
		this.written = Promise.resolve();
	}

	log(line) {
		this.lines.push(line);
		this.written = this.written.then(() => this.files.append('log', line));
	}

	last(number) {
		return this.lines.slice(-number);
	}

	/* all lines are in the file */
	flush() {
		return this.written;
	}
}

module.exports = { Audit };
