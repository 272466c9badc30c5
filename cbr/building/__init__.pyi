from .append import Appender as Appender
from .archives import files_in as files_in
from .pipeline import BuildReport as BuildReport
from .pipeline import build as build
from .recomputation import Rebuilt as Rebuilt
from .recomputation import rebuild as rebuild
from .scan import SourceScan as SourceScan
