/* An update is lost: a number is read and written by synchronized methods, each by itself. */
public class Synchronized {
	static int n;

	static synchronized int get() { return n; }
	static synchronized void set(int v) { n = v; }

	static void add(boolean fixed) {
		if (!fixed) {
			set(get() + 1);
			return;
		}
		synchronized (Synchronized.class) {
			set(get() + 1);
		}
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		Thread t = new Thread(() -> add(fixed)), u = new Thread(() -> add(fixed));

		t.start();
		u.start();
		t.join();
		u.join();
		if (n != 2)
			throw new AssertionError("n=" + n);
	}
}
