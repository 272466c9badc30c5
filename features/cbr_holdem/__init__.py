"""Texas Hold'em: cards, what hands are worth, the rules of the table, and a seat's situation."""
