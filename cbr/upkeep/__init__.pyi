from .competence_model import Competence as Competence
from .competence_model import competence as competence
from .refinement import Refinement as Refinement
from .refinement import refine as refine
from .retention import retain as retain
from .revision import Revision as Revision
from .revision import revise as revise
from .soundness import check as check
