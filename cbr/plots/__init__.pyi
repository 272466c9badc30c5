from .answer import draw_answer as draw_answer
from .answer import save as save
from .answer import verify_picture as verify_picture
from .evolution import draw as draw
