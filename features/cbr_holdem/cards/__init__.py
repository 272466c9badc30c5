"""Cards, hands and ranges, and the evaluator."""
