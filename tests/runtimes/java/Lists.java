/* An element is lost: a list that is not synchronized is shared, and all switches that matter are in its class. */
import java.util.*;

public class Lists {
	static final List<String> names = new ArrayList<>();

	static void add(String name) { names.add(name); }

	static synchronized void addAlone(String name) { add(name); }

	public static void main(String[] args) throws Exception {
		boolean fixed = args.length > 0;
		Thread t = new Thread(() -> { if (fixed) addAlone("ann"); else add("ann"); });
		Thread u = new Thread(() -> { if (fixed) addAlone("bob"); else add("bob"); });

		t.start();
		u.start();
		t.join();
		u.join();
		if (names.size() != 2)
			throw new AssertionError("names=" + names);
	}
}
