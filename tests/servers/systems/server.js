// A server that counts what it is asked for, reads a file for each answer, and has a timer; two clients, each a process.
'use strict';
const http = require('http');
const fs = require('fs');
const assert = require('assert');
const { execFile } = require('child_process');

let count = 0;
const answers = [];

const server = http.createServer((request, response) => {
	fs.readFile(__filename, (error, text) => {
		count++;
		setTimeout(() => response.end(error ? 'none' : String(text.length)), 10);
	});
});

server.listen(8080, '127.0.0.1', () => {
	for (let i = 0; i < 2; i++) {
		execFile('curl', ['-s', 'http://127.0.0.1:8080/'], (error, out) => {
			answers.push(error ? String(error) : out);
			if (answers.length === 2)
				server.close();
		});
	}
});
process.on('exit', () => {
	const size = String(fs.statSync(__filename).size);

	assert.deepStrictEqual(answers, [size, size]);
	assert.strictEqual(count, 2);
});
