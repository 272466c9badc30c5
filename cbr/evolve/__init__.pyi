from .arena import Arena as Arena
from .arena import Contest as Contest
from .arena import Gene as Gene
from .experiment import evolve as evolve
from .genome import Genome as Genome
from .plans import Generational as Generational
from .plans import Plan as Plan
from .plans import plan_named as plan_named
