/* An update of an atomic number is lost between get() and set(). */
import java.util.concurrent.atomic.AtomicInteger;

public class Atomics {
	static final AtomicInteger n = new AtomicInteger();

	static void add() {
		int v = n.get();
		n.set(v + 1);
	}

	public static void main(String[] args) throws Exception {
		Runnable r = args.length > 0 ? n::incrementAndGet : Atomics::add;
		Thread t = new Thread(r), u = new Thread(r);

		t.start();
		u.start();
		t.join();
		u.join();
		if (n.get() != 2)
			throw new AssertionError("n=" + n);
	}
}
