from . import cards as cards
from . import chance as chance
from . import situation as situation
from . import strength as strength
from . import table as table
