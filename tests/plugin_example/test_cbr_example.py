from cbr_example import half_life

from cbr.testing import check_similarity


def test_half_life():
    check_similarity(half_life)
    assert half_life(10, 20, distance=10) == 0.5
