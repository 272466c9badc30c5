"""Evolve: weights that earn more, found by contests in an arena. DEAP does the breeding.

    plans         how a search goes on, as data; plugins bring more
    genome        what a row of genes means
    operators     selection, crossover and mutation (DEAP)
    generational  the classic genetic algorithm
    racing        the robust search: CMA-ES (DEAP), paired races, duels with the champion
    playing       scores that a search requests, in pieces that workers play
    seeds         seeds by purpose, run and generation
    runfile       a run as a SQLite file, from which it is taken up again
    run           runs side by side, their winners, the report on fresh deals
    luck          how much equal individuals differ by luck alone
    report        a run file as figures; `cbr.plots` draws them
    accuracy      an arena for every domain: prediction of records kept apart

>>> from cbr.evolve.plans import plan_named
>>> plan_named("robust").method
'racing'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
