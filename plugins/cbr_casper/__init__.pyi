from .bot import CaseBot as CaseBot
from .evolution_arena import ARENA as ARENA
from .values.best_response import HANDS as HANDS
from .values.best_response import ROUNDS as ROUNDS
from .values.labels import label as label
from .values.labels import unlabelled as unlabelled
from .values.table_models import TableModels as TableModels
