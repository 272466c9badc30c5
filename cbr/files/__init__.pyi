from .atomic import verify_place as verify_place
from .atomic import whole_file as whole_file
from .compression import BROKEN as BROKEN
from .compression import head_of as head_of
from .compression import lines_of as lines_of
from .compression import open_bytes as open_bytes
from .compression import plain_name as plain_name
