"""How well player models predict: `cbr predict`.

splits     which players or hands a model is fitted to, and which it is tested on
baseline   the frequencies of moves given only what is legal
scores     accuracy, log-loss and Brier score of moves, sizes and shown cards
pictures   calibration, confusion and learning curve
commands   the command
"""
