"""Evolution: a search for weights that score higher in an arena, with operators of DEAP.

    plans         the settings of a search; plugins may add more
    genome        a row of genes: weights by stage and feature, and extra genes
    operators     selection, crossover and mutation (DEAP)
    generational  the classic genetic algorithm
    racing        the robust search: CMA-ES (DEAP), paired races, duels with the champion
    playing       the scores that a search requests, played in pieces by workers
    seeds         seeds by purpose, run and generation
    runfile       a search stored in a SQLite file, from which it can be resumed
    run_checks    checks of what a run file holds
    run           parallel runs, further runs from their winners, and the report on fresh trials
    luck          how much equal individuals differ by chance
    report        statistics of a run file; `cbr.plots` draws them
    accuracy      an arena for every domain: prediction of held-out records

>>> from cbr.evolve.plans import plan_named
>>> plan_named("robust").method
'racing'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
