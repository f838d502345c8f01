"""From texels to the bytes of a picture, a vector at a time."""

from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from memorylab.world.compiled import compiled

LANES = 8  # rows are cut into whole vectors: the leftover columns of a loop are the slow ones


@compiled
def whole_vectors(width):
    """The columns of a row that is padded to whole vectors."""
    return (width + LANES - 1) & -LANES


@compiled(inline=True)
def write_row(surfaces, texels, lights, pixels, width, first):
    """Write the bytes of a row, at least a vector wide, from byte `first` on; the last vector ends where the row does."""
    for vector in range(whole_vectors(width) // LANES):
        column = min(LANES * vector, width - LANES)
        write_lanes(surfaces, texels, lights, uint64(column), pixels, uint64(first + 3 * column))


def lane_constant(values):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), values)


@intrinsic
def write_lanes(typing, surfaces, texels, lights, column, pixels, at):
    """Write the pixels of LANES columns from byte `at` on: look texels up, dim them by lights of 256ths, if any.

    Numba finds no vectors here by itself: it cannot know that surfaces and pixels do not overlap.
    """

    def generate(context, builder, signature, arguments):
        def pointer(k, index):
            data = context.make_array(signature.args[k])(context, builder, arguments[k]).data
            return builder.gep(data, [index])

        def vector_of(k):
            return builder.load(builder.bitcast(pointer(k, arguments[3]), lanes.as_pointer()), align=4)

        def same(value):
            return ir.Constant(lanes, [value] * LANES)

        lanes = ir.VectorType(ir.IntType(32), LANES)
        colours = gathered(builder, pointer(0, ir.Constant(ir.IntType(64), 0)), vector_of(1), lanes)
        if signature.args[2] != types.none:
            light = vector_of(2)
            red_blue = builder.mul(builder.and_(colours, same(0xFF00FF)), light)
            green = builder.mul(builder.and_(colours, same(0x00FF00)), light)
            red_blue = builder.and_(builder.lshr(red_blue, same(8)), same(0xFF00FF))
            green = builder.and_(builder.lshr(green, same(8)), same(0x00FF00))
            colours = builder.or_(red_blue, green)
        byte = ir.IntType(8)
        loose = builder.bitcast(colours, ir.VectorType(byte, 4 * LANES))
        order = lane_constant([4 * (i // 3) + i % 3 for i in range(3 * LANES)])
        dense = builder.shuffle_vector(loose, ir.Constant(loose.type, ir.Undefined), order)
        target = builder.bitcast(pointer(4, arguments[5]), dense.type.as_pointer())
        builder.store(dense, target, align=1)
        return context.get_dummy_value()

    return types.void(surfaces, texels, lights, column, pixels, at), generate


def gathered(builder, start, indices, lanes):
    """The 32-bit values at `start` + indices."""
    one = builder.insert_element(
        ir.Constant(ir.VectorType(start.type, LANES), ir.Undefined), start, ir.Constant(ir.IntType(32), 0)
    )
    starts = builder.shuffle_vector(one, ir.Constant(one.type, ir.Undefined), lane_constant([0] * LANES))
    places = builder.gep(starts, [indices], source_etype=ir.IntType(32))
    mask = ir.VectorType(ir.IntType(1), LANES)
    kind = ir.FunctionType(lanes, [places.type, ir.IntType(32), mask, lanes])
    gather = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.gather.v{LANES}i32.v{LANES}p0")
    return builder.call(
        gather,
        [places, ir.Constant(ir.IntType(32), 4), ir.Constant(mask, [1] * LANES), ir.Constant(lanes, ir.Undefined)],
    )
