/* As Synchronized, by tasks of an executor. */
import java.util.concurrent.*;

public class Pool {
	static int n;

	static synchronized int get() { return n; }
	static synchronized void set(int v) { n = v; }
	static void add() { set(get() + 1); }
	static synchronized void addAlone() { add(); }

	public static void main(String[] args) throws Exception {
		Runnable r = args.length > 0 ? Pool::addAlone : Pool::add;
		ExecutorService pool = Executors.newFixedThreadPool(2);
		Future<?> t = pool.submit(r), u = pool.submit(r);

		t.get();
		u.get();
		pool.shutdown();
		if (n != 2)
			throw new AssertionError("n=" + n);
	}
}
