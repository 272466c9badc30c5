"""``python tests/soak``: see `soak.running`."""

import sys
from pathlib import Path

# The engine before the folder of its tests, which has the same name.
TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS)]

from soak.running import main  # noqa: E402

sys.exit(main())
