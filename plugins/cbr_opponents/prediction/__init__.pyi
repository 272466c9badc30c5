from .evaluation import Group as Group
from .evaluation import Prediction as Prediction
from .evaluation import as_json as as_json
from .evaluation import compare as compare
from .evaluation import evaluate as evaluate
from .evaluation import paired_gain as paired_gain
from .splits import SPLITS as SPLITS
from .splits import splits_of as splits_of
