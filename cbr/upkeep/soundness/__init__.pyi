from .findings import check as check
from .findings import index_states as index_states
