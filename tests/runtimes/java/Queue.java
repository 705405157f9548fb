// A worker ends when the queue is empty and no more is to come, and looks for that in the wrong order. Nothing but the queue's
// methods and the flag tell threads of each other: the queue itself is a local variable.
import java.util.concurrent.ConcurrentLinkedQueue;

public class Queue {
	static volatile boolean closed;

	static int work(ConcurrentLinkedQueue<Integer> jobs, boolean fixed) {
		int sum = 0;

		while (true) {
			boolean last = fixed && closed;
			Integer job = jobs.poll();

			if (job != null)
				sum += job;
			else if (fixed ? last : closed)
				return sum;
			else
				Thread.yield();
		}
	}

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		ConcurrentLinkedQueue<Integer> jobs = new ConcurrentLinkedQueue<>();
		int[] sum = new int[1];
		Thread worker = new Thread(() -> sum[0] = work(jobs, fixed));
		worker.start();
		jobs.add(1);
		jobs.add(2);
		closed = true;
		worker.join();
		if (sum[0] != 3) {
			System.out.println("sum is " + sum[0] + ", not 3");
			System.exit(1);
		}
	}
}
