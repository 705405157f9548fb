package shop;

/** Sells what is there. */
class Clerk {
	private final Inventory inventory;
	private final Ledger ledger;
	private final Audit audit;

	Clerk(Inventory inventory, Ledger ledger, Audit audit) {
		this.inventory = inventory;
		this.ledger = ledger;
		this.audit = audit;
	}

	/** The number of the sale, or 0 when too few are left. */
	int sell(String buyer, String article, int number) {
		int there = inventory.get(article);

		if (there < number) {
			audit.log("refused " + buyer + " " + article);
			return 0;
		}
		inventory.put(article, there - number);
		audit.log("sold " + number + " " + article + " to " + buyer);
		return ledger.add(new Ledger.Sale(buyer, article, number));
	}

	void deliver(String article, int number) {
		inventory.put(article, inventory.get(article) + number);
		audit.log("delivered " + number + " " + article);
	}
}
