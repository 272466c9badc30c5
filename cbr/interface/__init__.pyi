from .casebase import Casebase as Casebase
from .making import build as build
from .making import describe as describe
from .making import open as open
from .nearest import Explained as Explained
from .nearest import Nearest as Nearest
from .nearest import Prediction as Prediction
