"""Values of actions: the expected winnings of each action of a case, in small bets or big blinds.

best_response   an approximate best response to a model of how opponents act
unfinished      a search for best responses that was interrupted
table_models    models of the opponents at a table, and their posterior
rollouts        the value of each action of a logged decision, by paired roll-outs
labels          roll-out values of cases, stored in the casebase: `cbr label`
label_file      labels saved to a separate file
value_reuse     the reuse policy `worth`, which mixes imitation with values
"""
