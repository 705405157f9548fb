// A shop with an interface by HTTP: express's routes, sessions in cookies, and files for what has to last: it may be started
// anew at any time. main.js [FOLDER]
'use strict';

const { createApp } = require('./lib/app');
const { Shop } = require('./lib/shop');

async function main() {
	const shop = new Shop(process.argv[2] || 'data');

	await shop.open();
	const server = createApp(shop).listen(8080, '127.0.0.1', () => console.log('listening on 8080'));

	process.on('SIGTERM', () => {
		server.close();
		shop.close().then(() => process.exit(0));
	});
}

main().catch((error) => {
	console.error(error);
	process.exit(2);
});
