"""The competition's protocol (ACPC 2.0.0): our bots at its dealer, its programs at ours.

A dealer listens on one port for each player, sends each a match state after every action, and
reads the answer of whoever is to act. Its positions are our seats: 0 is left of the button, and
heads-up with reverse blinds 0 is the big blind and 1 the button.
"""
