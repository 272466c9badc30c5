"""What a hand is worth: strength, potential, odds."""
