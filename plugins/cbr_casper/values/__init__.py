"""Values of actions: what each action of a case earns on average, in small bets or big blinds.

best_response   an approximate best response to a model of how opponents act
table_models    the tables that a bot may meet, and which of them it seems to sit at
rollouts        the value of each action of a logged decision, by paired roll-outs
labels          roll-out values of cases, kept in the casebase: `cbr label`
label_file      the same in a file of their own
value_reuse     the reuse policy `worth`, which mixes imitation with values
"""
