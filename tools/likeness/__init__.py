"""Likeness of `loki` to the real Loki and Poki: their logged decisions, the log-loss of predicting
them, and the search for the best constants. `tools/loki_likeness.py` is the command."""
