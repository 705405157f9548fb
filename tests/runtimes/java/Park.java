/* Who parks says so after it has looked: nobody may unpark it. */
import java.util.concurrent.locks.LockSupport;

public class Park {
	static volatile boolean ready;
	static volatile Thread waiter;

	static void await(boolean fixed) {
		if (fixed)
			waiter = Thread.currentThread();
		while (!ready) {
			waiter = Thread.currentThread();
			LockSupport.park();
		}
	}

	static void signal() {
		ready = true;
		Thread w = waiter;
		if (w != null)
			LockSupport.unpark(w);
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		Thread t = new Thread(() -> await(fixed)), u = new Thread(Park::signal);

		t.start();
		u.start();
		t.join();
		u.join();
	}
}
