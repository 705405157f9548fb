package shop;

import java.util.Map;
import java.util.TreeMap;

/** What lies in the shop's shelves, by article. */
class Inventory {
	private final Map<String, Integer> pieces = new TreeMap<>();

	synchronized int get(String article) {
		return pieces.getOrDefault(article, 0);
	}

	synchronized void put(String article, int number) {
		pieces.put(article, number);
	}

	synchronized int total() {
		int sum = 0;

		for (int number : pieces.values())
			sum += number;
		return sum;
	}
}
