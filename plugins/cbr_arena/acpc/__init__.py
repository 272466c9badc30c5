"""The competition's protocol (ACPC 2.0.0): our bots at its dealer, its programs at ours.

A dealer listens on one port for each player, sends each a match state after every action, and
reads the answer of whoever is to act. Its positions are our seats: 0 is left of the button, and
heads-up with reverse blinds 0 is the big blind and 1 the button. Its modules:

    games      game definitions by name
    protocol   match states and actions as text, and the table that a state stands for
    lines      lines over a socket, with a limit to waiting and to their length
    mind       one of our bots in one seat, asked for one decision at a time
    client     a bot of ours at a dealer
    door       how players come to our dealer
    seats      who plays there: a program at the other end of a connection, or a bot of ours
    dealer     the dealer; `log` is its match log
    commands   `cbr acpc` and `cbr dealer`
"""
