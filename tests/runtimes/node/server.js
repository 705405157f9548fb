// A server keeps a number in memory, and in a file; two clients of it ask it to add at once. The file may get the older state.
'use strict';
const http = require('http');
const fs = require('fs');

let number = 0, saving = Promise.resolve(), left = 2;

function save() {
	return fs.promises.writeFile('number', String(number));
}

const server = http.createServer((request, response) => {
	number++;
	saving = process.argv[2] === 'fixed' ? saving.then(save) : save();
	saving.then(() => response.end(String(number)));
});

server.listen(8080, '127.0.0.1', () => {
	for (let i = 0; i < 2; i++) {
		http.get('http://127.0.0.1:8080/', { agent: false }, (response) => {
			response.resume();
			response.on('end', () => {
				if (--left)
					return;
				server.close();
				if (fs.readFileSync('number', 'utf8') !== '2')
					process.exit(1);
			});
		});
	}
});
