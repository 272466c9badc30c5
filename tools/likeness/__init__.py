"""How like the real Loki and Poki `loki` plays: their decisions in logs, the loss of guessing them,
and the search for constants that lose least. `tools/loki_likeness.py` is the command."""
