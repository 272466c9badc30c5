"""Tables as people have them: how they are read, what is in their columns, and what case type
suits them.

dialect       delimiter, encoding and decimal mark of a text table, detected
reading       the rows of CSV, TSV, JSON lines, Parquet and Excel files
frames        the rows of pandas and Polars frames, and of plain lists
cells         what a cell means: numbers, dates, missing values
columns       what is in each column of a table
proposal      the case type proposed for a table
description   that proposal as a TOML or JSON file, to be edited by hand
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
