/* An update of a plain field is lost. */
public class Fields {
	static int n;

	static void add() {
		int v = n;
		n = v + 1;
	}

	static synchronized void addAlone() { add(); }

	public static void main(String[] args) throws Exception {
		Runnable r = args.length > 0 ? Fields::addAlone : Fields::add;
		Thread t = new Thread(r), u = new Thread(r);

		t.start();
		u.start();
		t.join();
		u.join();
		if (n != 2)
			throw new AssertionError("n=" + n);
	}
}
