import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A pool of two threads makes six squares, and counts them in a map that all share. */
public class Executor {
	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		ConcurrentHashMap<String, Integer> seen = new ConcurrentHashMap<>();
		List<Future<Integer>> squares = new ArrayList<>();
		int sum = 0;

		for (int i = 0; i < 6; i++) {
			int n = i;

			squares.add(pool.submit(() -> {
				seen.merge("made", 1, Integer::sum);
				return n * n;
			}));
		}
		for (Future<Integer> f : squares)
			sum += f.get();
		pool.shutdown();
		if (!pool.awaitTermination(1, TimeUnit.HOURS) || sum != 55 || seen.get("made") != 6)
			throw new AssertionError("sum " + sum + ", " + seen);
	}
}
