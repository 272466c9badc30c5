from .loki import Formula as Formula
from .loki_constants import SETTINGS as SETTINGS
from .loki_constants import Constants as Constants
from .loki_constants import constants_of as constants_of
from .loki_preflop import STYLES as STYLES
