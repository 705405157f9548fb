/* Two threads enter two monitors in either order: they may wait for each other. */
public class Monitors {
	static final Object left = new Object(), right = new Object();
	static int n;

	static void both(Object first, Object second) {
		synchronized (first) {
			synchronized (second) {
				n++;
			}
		}
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		Thread t = new Thread(() -> both(left, right));
		Thread u = new Thread(() -> both(fixed ? left : right, fixed ? right : left));

		t.start();
		u.start();
		t.join();
		u.join();
	}
}
