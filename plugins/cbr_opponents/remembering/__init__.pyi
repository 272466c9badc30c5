from .files import MemoryFile as MemoryFile
from .files import open_memory as open_memory
from .memory import Opponent as Opponent
from .memory import OpponentMemory as OpponentMemory
