/** Two threads add to a number, each step of it synchronized; the main thread waits for both. */
public class Threads {
	private int total;

	private synchronized void add() {
		total++;
	}

	public static void main(String[] args) throws InterruptedException {
		Threads t = new Threads();
		Runnable work = () -> {
			for (int i = 0; i < 5; i++)
				t.add();
		};
		Thread a = new Thread(work), b = new Thread(work);

		a.start();
		b.start();
		a.join();
		b.join();
		if (t.total != 10)
			throw new AssertionError("total " + t.total);
	}
}
