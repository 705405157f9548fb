/* Two clerks take the same seat: the seats are an array that only local variables refer to. */
public class Elements {
	static void take(int[] seats, int who) {
		for (int i = 0; i < seats.length; i++)
			if (seats[i] == 0) {
				seats[i] = who;
				return;
			}
	}

	static void takeAlone(int[] seats, int who) {
		synchronized (seats) {
			take(seats, who);
		}
	}

	static void clerk(int[] seats, int who, boolean fixed) {
		if (fixed)
			takeAlone(seats, who);
		else
			take(seats, who);
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		int[] seats = new int[3];
		Thread t = new Thread(() -> clerk(seats, 1, fixed)), u = new Thread(() -> clerk(seats, 2, fixed));

		t.start();
		u.start();
		t.join();
		u.join();
		if (seats[1] == 0)
			throw new AssertionError("one seat for two");
	}
}
