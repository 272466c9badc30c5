from .archives import files_in as files_in
from .pipeline import BuildReport as BuildReport
from .pipeline import build as build
from .recomputation import rebuild as rebuild
from .scan import Reading as Reading
from .worker import Job as Job
from .worker import Setup as Setup
from .worker import work as work
