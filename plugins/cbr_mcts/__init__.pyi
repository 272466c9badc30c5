from .bot import SearchBot as SearchBot
from .options import SearchOptions as SearchOptions
from .rules import BackupRule as BackupRule
from .rules import SelectionRule as SelectionRule
from .rules import backup_rule as backup_rule
from .rules import selection_rule as selection_rule
