from .evaluation import Evaluation as Evaluation
from .evaluation import evaluate as evaluate
from .prediction import Split as Split
from .prediction import log_loss as log_loss
from .weight_learning import Learned as Learned
from .weight_learning import learn as learn
from .weight_learning import learn_weights as learn_weights
