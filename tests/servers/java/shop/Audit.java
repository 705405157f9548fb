package shop;

import java.util.ArrayDeque;
import java.util.Queue;

/** Lines for the shop's log, which a thread of its own writes. */
class Audit implements Runnable {
	private final Queue<String> lines = new ArrayDeque<>();
	private boolean closed;

	synchronized void log(String line) {
		lines.add(line);
		notify();
	}

	synchronized void close() {
		closed = true;
		notify();
	}

	private synchronized String next() throws InterruptedException {
		while (lines.isEmpty() && !closed)
			wait();
		return lines.poll();
	}

	@Override
	public void run() {
		try {
			for (String line = next(); line != null; line = next())
				System.out.println(line);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}
}
