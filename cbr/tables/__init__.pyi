from .columns import Column as Column
from .columns import columns_of as columns_of
from .description import read_description as read_description
from .description import write_description as write_description
from .proposal import Proposed as Proposed
from .proposal import propose as propose
from .reading import TableOptions as TableOptions
from .reading import read_rows as read_rows
