package shop;

import java.util.ArrayList;
import java.util.List;

/** Who bought what, in the order of sales. */
class Ledger {
	static class Sale {
		final String buyer, article;
		final int number;

		Sale(String buyer, String article, int number) {
			this.buyer = buyer;
			this.article = article;
			this.number = number;
		}

		@Override
		public String toString() {
			return buyer + " " + number + " " + article;
		}
	}

	private final List<Sale> sales = new ArrayList<>();

	synchronized int add(Sale sale) {
		sales.add(sale);
		return sales.size();
	}

	synchronized String print() {
		StringBuilder text = new StringBuilder();

		for (Sale sale : sales)
			text.append(sale).append('\n');
		return text.toString();
	}
}
