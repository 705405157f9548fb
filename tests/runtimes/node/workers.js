// Two workers add to a number in shared memory, five times each: load it, and store one more.
'use strict';
const { Worker, isMainThread, workerData } = require('worker_threads');

if (isMainThread) {
	const fixed = process.argv[2] === 'fixed';
	const memory = new SharedArrayBuffer(4);
	let left = 2;

	for (let i = 0; i < 2; i++) {
		new Worker(__filename, { workerData: { memory, fixed } }).on('exit', () => {
			if (--left === 0 && new Int32Array(memory)[0] !== 10)
				process.exit(1);
		});
	}
} else {
	const total = new Int32Array(workerData.memory);

	function add() {
		if (workerData.fixed)
			Atomics.add(total, 0, 1);
		else
			Atomics.store(total, 0, Atomics.load(total, 0) + 1);
	}
	for (let i = 0; i < 5; i++)
		add();
}
