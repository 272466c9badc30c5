"""What a seat knows when it has to act, and the features that follow from it."""
