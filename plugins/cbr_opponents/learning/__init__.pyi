from .decisions import Decisions as Decisions
from .decisions import MoveCounts as MoveCounts
from .decisions import count_moves as count_moves
from .player_groups import groups_of as groups_of
