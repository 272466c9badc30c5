"""The inner loops of trees: their leaves from rows of bits, and the sums of what leaves add.

Both are written twice: in Python, which says what they do, and as the code that compiled functions
get in their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from cbr_opponents.boosting import DEPTH

#: Words of a block, whose bytes are the leaves of as many trees.
WORDS = 16
BLOCK = 8 * WORDS
#: Words that are or-ed at once: wider vectors make some processors slower.
_AT_ONCE = 4
#: Numbers of a leaf.
PAIR = 2
#: Trees whose leaves are added to different sums, so that no addition waits for another.
_APART = 4
_LEAVES = 1 << DEPTH


def or_bits(
    bits: Any,
    first: Any,
    step: Any,
    row: Any,
    features: Any,
    used: Any,
    count: Any,
    before: Any,
    leaves: Any,
) -> None:
    """The leaves of a block: those `before`, and the bits of the first `count` features used. Of
    the rows of `bits`, every `step`-th belongs to the block, from the `first` on."""
    words = before[:BLOCK].view(np.uint64).copy()
    for which in used[:count]:
        words |= bits[first + step * row[which, features[which]]]
    leaves[:BLOCK] = words.view(np.uint8)


def add_leaves(leaf: Any, leaves: Any, first: Any, end: Any, sums: Any) -> None:
    """Add the `leaf` [trees, 2^DEPTH, PAIR] of the trees from `first` to `end` to `sums` [PAIR]."""
    for tree in range(first, end):
        sums += leaf[tree, leaves[tree]]


# Compiled from these two, the words or leaves of several features or trees would be fetched by one
# gathering instruction, which takes much longer than to load them one after the other. So compiled
# functions that call them get the same in LLVM's own language.


def _data(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """The arguments of an intrinsic function: of arrays, the pointer to their data."""
    if any(isinstance(kind, types.Array) and kind.layout != "C" for kind in signature.args):
        raise TypeError("arrays of trees must be contiguous")
    return [
        context.make_array(kind)(context, builder, value).data
        if isinstance(kind, types.Array)
        else context.cast(builder, value, kind, types.int64)
        for kind, value in zip(signature.args, args, strict=True)
    ]


@intrinsic
def _or_bits_code(
    typing: Any,
    bits: Any,
    first: Any,
    step: Any,
    row: Any,
    features: Any,
    used: Any,
    count: Any,
    before: Any,
    leaves: Any,
) -> Any:
    word = ir.IntType(64)
    words = ir.VectorType(word, _AT_ONCE)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, first, step, row, features, used, count, before, leaves = _data(
            context, builder, signature, args
        )

        def parts(start: Any) -> list[Any]:
            start = builder.bitcast(start, words.as_pointer())
            return [builder.gep(start, [word(part)]) for part in range(WORDS // _AT_ONCE)]

        found = [
            cgutils.alloca_once_value(builder, builder.load(part, align=1))
            for part in parts(before)
        ]
        with cgutils.for_range(builder, count) as loop:
            which = builder.load(builder.gep(used, [loop.index]))
            value = builder.zext(builder.load(builder.gep(features, [which])), word)
            place = builder.add(builder.mul(which, word(256)), value)
            number = builder.zext(builder.load(builder.gep(row, [place])), word)
            at = builder.mul(builder.add(first, builder.mul(step, number)), word(WORDS))
            for part, so_far in zip(parts(builder.gep(bits, [at])), found, strict=True):
                both = builder.or_(builder.load(so_far), builder.load(part, align=8))
                builder.store(both, so_far)
        for part, all_ in zip(parts(leaves), found, strict=True):
            builder.store(builder.load(all_), part, align=1)
        return context.get_dummy_value()

    return types.none(bits, first, step, row, features, used, count, before, leaves), code


@intrinsic
def _add_leaves_code(typing: Any, leaf: Any, leaves: Any, first: Any, end: Any, sums: Any) -> Any:
    word = ir.IntType(64)
    single, double = (ir.VectorType(kind, PAIR) for kind in (ir.FloatType(), ir.DoubleType()))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        leaf, leaves, first, end, sums = _data(context, builder, signature, args)

        def add(tree: Any, part: Any) -> None:
            at = builder.zext(builder.load(builder.gep(leaves, [tree])), word)
            place = builder.add(builder.mul(tree, word(_LEAVES)), at)
            pair = builder.gep(leaf, [builder.mul(place, word(PAIR))])
            some = builder.load(builder.bitcast(pair, single.as_pointer()), align=4)
            builder.store(builder.fadd(builder.load(part), builder.fpext(some, double)), part)

        sums = builder.bitcast(sums, double.as_pointer())
        none = ir.Constant(double, None)
        parts = [cgutils.alloca_once_value(builder, none) for _ in range(_APART)]
        count = builder.sub(end, first)
        rest = builder.srem(count, word(_APART))
        with cgutils.for_range(builder, rest) as loop:
            add(builder.add(first, loop.index), parts[0])
        first = builder.add(first, rest)
        with cgutils.for_range(builder, builder.sdiv(count, word(_APART))) as loop:
            start = builder.add(first, builder.mul(loop.index, word(_APART)))
            for apart, part in enumerate(parts):
                add(builder.add(start, word(apart)), part)
        total = builder.load(sums, align=8)
        for part in parts:
            total = builder.fadd(total, builder.load(part))
        builder.store(total, sums, align=8)
        return context.get_dummy_value()

    return types.none(leaf, leaves, first, end, sums), code


_or_bits: Any = _or_bits_code
_add_leaves: Any = _add_leaves_code


@overload(or_bits)
def _(bits, first, step, row, features, used, count, before, leaves):  # type: ignore[no-untyped-def]
    return lambda bits, first, step, row, features, used, count, before, leaves: _or_bits(
        bits, first, step, row, features, used, count, before, leaves
    )


@overload(add_leaves)
def _(leaf, leaves, first, end, sums):  # type: ignore[no-untyped-def]
    return lambda leaf, leaves, first, end, sums: _add_leaves(leaf, leaves, first, end, sums)
