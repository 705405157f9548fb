/* Who waits has looked before it enters the monitor again: the notification may come between. */
public class Notify {
	static final Object lock = new Object();
	static boolean ready;

	static void await() throws InterruptedException {
		boolean go;

		synchronized (lock) {
			go = ready;
		}
		if (go)
			return;
		synchronized (lock) {
			lock.wait();
		}
	}

	static void awaitWell() throws InterruptedException {
		synchronized (lock) {
			while (!ready)
				lock.wait();
		}
	}

	static void signal() {
		synchronized (lock) {
			ready = true;
			lock.notify();
		}
	}

	public static void main(String[] args) throws Exception {
		Thread u = new Thread(Notify::signal);

		u.start();
		if (args.length > 0)
			awaitWell();
		else
			await();
		u.join();
	}
}
