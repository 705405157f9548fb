// Two threads count words for long, each with counters of its own; at the end each adds its count to a total, without a lock.
public class Late {
	static class Counter {
		int words;

		void read(String text) {
			for (int i = 0; i < text.length(); i++)
				if (text.charAt(i) == ' ')
					words++;
		}
	}

	static int total;
	static boolean fixed;

	static void add(int words) {
		if (fixed) {
			synchronized (Late.class) {
				total += words;
			}
			return;
		}
		total += words;
	}

	public static void main(String[] args) throws Exception {
		fixed = args.length > 0;
		String text = "to be or not ".repeat(60);
		Thread[] threads = new Thread[2];
		for (int i = 0; i < 2; i++) {
			threads[i] = new Thread(() -> {
				Counter c = new Counter();
				c.read(text);
				add(c.words);
			});
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		if (total != 480) {
			System.out.println("total is " + total + ", not 480");
			System.exit(1);
		}
	}
}
