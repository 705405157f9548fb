// Two workers add to a number in shared memory and report to the main thread.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const assert = require('assert');

if (isMainThread) {
	const memory = new SharedArrayBuffer(4);
	const total = new Int32Array(memory);
	let reports = 0;

	for (let i = 0; i < 2; i++) {
		const worker = new Worker(__filename, { workerData: memory });
		worker.on('message', (n) => { reports += n; });
	}
	process.on('exit', () => {
		assert.strictEqual(total[0], 10);
		assert.strictEqual(reports, 10);
	});
} else {
	const total = new Int32Array(workerData);

	for (let i = 0; i < 5; i++)
		Atomics.add(total, 0, 1);
	parentPort.postMessage(5);
}
