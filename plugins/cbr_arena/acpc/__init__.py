"""The protocol of the ACPC (2.0.0): our bots at its dealer, its programs at our dealer.

A dealer listens on one port for each player, sends each a match state after every action, and
reads the answer of the player to act. Its positions are our seats: 0 is left of the button, and
heads-up with reverse blinds 0 is the big blind and 1 the button. The modules:

    games      game definitions by name
    protocol   match states and actions as text, and the table that a state stands for
    lines      lines over a socket, with limits on waiting and on their length
    mind       one of our bots in one seat, deciding one situation at a time
    client     the client: one of our bots at a dealer
    door       how players connect to our dealer
    seats      the players there: a program at the other end of a connection, or one of our bots
    dealer     the dealer; `log` is its match log
    commands   `cbr acpc` and `cbr dealer`
"""
