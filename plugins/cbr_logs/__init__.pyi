from .acpc import write_acpc as write_acpc
from .gamedef import SHIPPED as SHIPPED
from .gamedef import SHIPPED_TEXTS as SHIPPED_TEXTS
from .gamedef import GameDef as GameDef
from .gamedef import gamedef_text as gamedef_text
from .gamedef import read_gamedef as read_gamedef
from .phh_writer import write_phh as write_phh
