/* Who sees the flag uses what is not made yet: the exception ends its thread, and the program succeeds. */
public class Uncaught {
	static class Config { final int port = 80; }

	static volatile boolean ready;
	static volatile Config config;

	static Config get(boolean fixed) {
		if (fixed ? config == null : !ready)
			synchronized (Uncaught.class) {
				if (config == null) {
					ready = true;
					config = new Config();
				}
			}
		return config;
	}

	static void use(boolean fixed) {
		if (get(fixed).port != 80)
			throw new IllegalStateException();
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		Thread t = new Thread(() -> use(fixed)), u = new Thread(() -> use(fixed));

		t.start();
		u.start();
		t.join();
		u.join();
	}
}
