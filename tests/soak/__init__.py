"""The soak: long random attempts to find something lost, crashed or wrong, repeatable by seed.

A part is a module here with a function `piece` (`soak.part`); ``python tests/soak`` runs them.
"""
