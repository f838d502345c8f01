"""From texels to the bytes of a picture, a vector at a time."""

from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from memorylab.world.jit import jit

LANES = 8  # rows are cut into whole vectors: the leftover columns of a loop are the slow ones


@jit
def whole_vectors(width):
    """The columns of a row that is padded to whole vectors."""
    return (width + LANES - 1) & -LANES


@jit(inline=True)
def write_row(surfaces, texels, lights, pixels, width, first):
    """Write the bytes of a row, at least a vector wide, from byte `first` on; the last vector ends with the row."""
    for vector in range(whole_vectors(width) // LANES):
        column = min(LANES * vector, width - LANES)
        write_lanes(surfaces, texels, lights, uint64(column), pixels, uint64(first + 3 * column))


@intrinsic
def write_lanes(typing, surfaces, texels, lights, column, pixels, at):
    """Write the pixels of LANES columns from byte `at` on: texels looked up and dimmed to lights / 256, if not None.

    Numba makes no vectors of such a loop by itself: it cannot know that pixels and surfaces do not overlap.
    """

    def generate(context, builder, signature, arguments):
        def pointer(number, index):
            array = context.make_array(signature.args[number])(context, builder, arguments[number])
            return builder.gep(array.data, [index])

        def lanes_of(number):
            lanes = ir.VectorType(WORD, LANES).as_pointer()
            return builder.load(builder.bitcast(pointer(number, arguments[3]), lanes), align=4)

        colours = gathered(builder, pointer(0, WORD(0)), lanes_of(1))
        if signature.args[2] != types.none:
            colours = dimmed(builder, colours, lanes_of(2))
        dense = without_fourth_bytes(builder, colours)
        builder.store(dense, builder.bitcast(pointer(4, arguments[5]), dense.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(surfaces, texels, lights, column, pixels, at), generate


WORD, BYTE, BIT = ir.IntType(32), ir.IntType(8), ir.IntType(1)


def constants(kind, values):
    """A vector that is known when code is generated."""
    return ir.Constant(ir.VectorType(kind, len(values)), values)


def undefined(kind, count=LANES):
    """A vector to be filled in, whose first content does not matter."""
    return ir.Constant(ir.VectorType(kind, count), ir.Undefined)


def gathered(builder, start, indices):
    """The words at `start` + indices."""
    first = builder.insert_element(undefined(start.type), start, WORD(0))
    starts = builder.shuffle_vector(first, first, constants(WORD, [0] * LANES))
    places = builder.gep(starts, [indices], source_etype=WORD)
    arguments = places, WORD(4), constants(BIT, [1] * LANES), undefined(WORD)  # aligned to four bytes, all lanes
    kind = ir.FunctionType(indices.type, [argument.type for argument in arguments])
    name = f"llvm.masked.gather.v{LANES}i32.v{LANES}p0"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def dimmed(builder, colours, lights):
    """Red and blue share one multiplication: each has a free byte above it."""
    parts = []
    for mask in (0xFF00FF, 0x00FF00):
        mask = constants(WORD, [mask] * LANES)
        brighter = builder.mul(builder.and_(colours, mask), lights)
        parts.append(builder.and_(builder.lshr(brighter, constants(WORD, [8] * LANES)), mask))
    return builder.or_(*parts)


def without_fourth_bytes(builder, colours):
    """Red, green and blue of all lanes without a gap, as a picture holds them."""
    loose = builder.bitcast(colours, ir.VectorType(BYTE, 4 * LANES))
    return builder.shuffle_vector(loose, loose, constants(WORD, [4 * (i // 3) + i % 3 for i in range(3 * LANES)]))
