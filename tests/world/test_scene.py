"""The scene against a slow ray tracer that knows only geometry."""

import math

import numpy as np
import pytest

from memorylab.world import sky as sky_module
from memorylab.world.materials import SIZE, STRIDE, with_copies
from memorylab.world.scene import draw_scene, scene_fields
from memorylab.world.texels import HAZE, LIGHT_ON_TOP, LIGHT_ON_X, LIGHT_ON_Z
from memorylab.world.walking import WALKER

SIDE = 9
GAME = np.dtype([*scene_fields(SIDE), *WALKER], align=True)
LIGHTS = (LIGHT_ON_X, LIGHT_ON_TOP, LIGHT_ON_Z)

# Colours of which one channel is full and the others are none, half or full: light dims them but keeps their ratios.
CODES = [(r, g, b) for r in range(3) for g in range(3) for b in range(3) if max(r, g, b) == 2]
NUM_MATERIALS = 12
SKY_CODE = NUM_MATERIALS  # and four more
SKY_START = NUM_MATERIALS * STRIDE


def flat_surfaces() -> np.ndarray:
    """Every texel of material m, and of picture m - 12 of the sky, has colour m."""
    packed = [127 * (r | g << 8 | b << 16) for r, g, b in CODES]
    materials = np.repeat(np.array(packed[:SKY_CODE], np.uint32), STRIDE)
    return np.concatenate([materials, np.repeat(np.array(packed[SKY_CODE : SKY_CODE + 5], np.uint32), 128 * 128)])


SURFACES = flat_surfaces()


def drawn(game, height: int, width: int, fill: int = 77, surfaces: np.ndarray = SURFACES) -> np.ndarray:
    picture = np.full((height, width * 3), fill, np.uint8)
    draw_scene(game, surfaces, SKY_START, picture)
    return picture.reshape(height, width, 3)


def code_of(pixel: np.ndarray) -> int:
    """Which colour it was before light dimmed it."""
    return CODES.index(tuple(int(channel) for channel in np.round(2 * pixel.astype(int) / pixel.max())))


def empty_game(rows: int = 5, columns: int = 5, cell: float = 2.0):
    """A walled yard."""
    game = np.zeros(1, GAME)[0]
    game["rows"], game["columns"], game["cell"] = rows, columns, cell
    game["solid"][:] = 1
    game["solid"][1 : rows - 1, 1 : columns - 1] = 0
    game["wall_height"], game["eye"] = 2.0, 1.0
    game["wall_material"], game["floor_material"] = 0, 1
    game["x"], game["z"] = columns * cell / 2, rows * cell / 2
    return game


def place(game, **fields) -> None:
    for name, value in fields.items():
        game[name] = value


def boxes_of(game) -> tuple[np.ndarray, np.ndarray]:
    """Everything that is a box, as (low corners, high corners, materials): walls are boxes too."""
    cell, found = game["cell"], []
    for row in range(game["rows"]):
        for column in range(game["columns"]):
            if game["solid"][row, column]:
                low = (column * cell, 0, row * cell)
                found.append((low, (low[0] + cell, game["wall_height"], low[2] + cell), game["wall_material"]))
    for number in range(game["num_boxes"]):
        west, east, bottom, top, south, north = game["boxes"][number].tolist()
        found.append(((west, bottom, south), (east, top, north), game["box_material"][number]))
    return tuple(np.array(part) for part in zip(*found, strict=True))


def random_game(rng):
    rows, columns = rng.integers(5, SIDE + 1, 2)
    game = empty_game(rows, columns, rng.uniform(0.8, 2))
    for _ in range(rng.integers(0, 5)):
        game["solid"][rng.integers(1, rows - 1), rng.integers(1, columns - 1)] = 1
    wide, deep, high = columns * game["cell"], rows * game["cell"], rng.uniform(0.8, 3)
    materials = rng.permutation(NUM_MATERIALS)
    game["wall_height"], game["wall_material"], game["floor_material"] = high, materials[0], materials[1]
    game["num_boxes"], game["num_ovals"] = rng.integers(0, 9), rng.integers(0, 3)
    game["box_material"][:8], game["oval_material"] = materials[2:10], materials[10:]
    for number in range(game["num_boxes"]):
        x, z, y = (
            rng.uniform(0.1, 0.7) * wide,
            rng.uniform(0.1, 0.7) * deep,
            rng.choice([0, rng.uniform(0, 1.5 * high)]),
        )
        size = rng.uniform(0.05, 2, 3)
        game["boxes"][number] = x, x + size[0], y, y + size[1], z, z + size[2]
    for number in range(game["num_ovals"]):
        radius, half_height = rng.uniform(0.1, 0.8, 2)
        game["ovals"][number] = *(rng.uniform(0.2, 0.8, 3) * (wide, high, deep)), radius, half_height
    game["yaw"] = rng.choice([rng.uniform(-180, 180), rng.choice([-180, -90, -45, 0, 90])], p=[0.8, 0.2])
    game["pitch"] = rng.choice([0, rng.uniform(-30, 30)], p=[0.7, 0.3])
    while True:
        game["x"], game["z"], game["eye"] = rng.uniform(0, wide), rng.uniform(0, deep), rng.uniform(0.1, 0.9) * high
        if clearance(game) > 0.08:
            return game


def clearance(game) -> float:
    """How far the eye is from everything, roughly."""
    eye = np.array([game["x"], game["eye"], game["z"]])
    low, high, _ = boxes_of(game)
    gaps = [np.maximum(low - eye, eye - high).max(1).min()]
    for x, y, z, radius, half_height in game["ovals"][: game["num_ovals"]].tolist():
        away = np.linalg.norm((eye - (x, y, z)) / (radius, half_height, radius))
        gaps.append((away - 1) * min(radius, half_height))
    return min(gaps)


def ray(game, column: float, line: float, width: int, height: int) -> np.ndarray:
    """Direction (east, up, north) through the middle of a pixel; 90 degrees across, square pixels."""
    yaw, pitch = math.radians(game["yaw"]), math.radians(game["pitch"])
    right, up = (2 * column + 1) / width - 1, (height - 2 * line - 1) / width
    rise, ahead = up * math.cos(pitch) + math.sin(pitch), math.cos(pitch) - up * math.sin(pitch)
    sin, cos = math.sin(yaw), math.cos(yaw)
    direction = np.array([right * cos + ahead * sin, rise, ahead * cos - right * sin])
    return np.where(abs(direction) < 1e-9, 1e-9, direction)


def traced(game, boxes, direction: np.ndarray) -> tuple[int, float]:
    """The colour code and light of the nearest thing that a ray meets."""
    eye = np.array([game["x"], game["eye"], game["z"]])
    hits = [(np.inf, *traced_sky(direction))]
    if direction[1] < 0:
        depth = -eye[1] / direction[1]
        hits.append((depth, game["floor_material"], LIGHT_ON_TOP / (1 + HAZE * depth)))
    low, high, materials = boxes
    a, b = (low - eye) / direction, (high - eye) / direction
    enters, leaves = np.minimum(a, b), np.maximum(a, b).min(1)
    depths = enters.max(1)
    depths = np.where((depths < leaves) & (depths > 0), depths, np.inf)
    nearest = depths.argmin()
    depth, light = depths[nearest], LIGHTS[enters[nearest].argmax()]
    hits.append((depth, materials[nearest], light / (1 + HAZE * depth)))
    for number in range(game["num_ovals"]):
        x, y, z, radius, half_height = game["ovals"][number].tolist()
        scale = np.array([radius, half_height, radius])
        start, way = (eye - (x, y, z)) / scale, direction / scale
        roots = np.roots([way @ way, 2 * start @ way, start @ start - 1])
        if np.isreal(roots).all() and roots.min() > 0:
            hits.append((roots.min(), game["oval_material"][number], 196 + 60 * (start + roots.min() * way)[1]))
    return min(hits, key=lambda hit: hit[0])[1:]


def traced_sky(direction: np.ndarray) -> tuple[int, float]:
    x, y, z = direction
    faces = {sky_module.NORTH: z, sky_module.EAST: x, sky_module.SOUTH: -z, sky_module.WEST: -x, sky_module.ABOVE: y}
    return SKY_CODE + max(faces, key=faces.get), 256.0


def agrees(pixel: np.ndarray, code: int, light: float) -> bool:
    return code_of(pixel) == code and abs(pixel.max() - 254 * light / 256) < 3


def mismatches(game, height: int, width: int) -> int:
    """Pixels that show what neither their ray meets nor, since rounding decides at edges, a ray hardly beside it.

    Of a tilted picture walls are found by bearings a quarter of a pixel apart.
    """
    picture, boxes, wrong = drawn(game, height, width), boxes_of(game), 0
    aside = 0.01 if game["pitch"] == 0 else 0.3
    for line in range(height):
        for column in range(width):
            for i, j in [(0, 0)] + [(i, j) for i in (-aside, 0, aside) for j in (-aside, 0, aside)]:
                if agrees(picture[line, column], *traced(game, boxes, ray(game, column + i, line + j, width, height))):
                    break
            else:
                wrong += 1
    return wrong


@pytest.mark.parametrize("size", [(24, 32), (15, 22)])
def test_every_pixel_is_what_its_ray_meets(size):
    rng = np.random.default_rng(size[0])
    for number in range(40):
        game = random_game(rng)
        allowed = 0 if game["pitch"] == 0 else 0.01 * size[0] * size[1]
        assert mismatches(game, *size) <= allowed, (number, game)


def test_random_scenes_show_everything():
    """The comparison is worth something only if every kind of thing is seen."""
    rng = np.random.default_rng(0)
    seen = {"wall": 0, "floor": 0, "box": 0, "oval": 0, **dict.fromkeys(range(5), 0)}
    for _ in range(120):
        game = random_game(rng)
        names = {int(game["wall_material"]): "wall", int(game["floor_material"]): "floor"}
        names |= {SKY_CODE + face: face for face in range(5)}
        names |= {int(material): "oval" for material in game["oval_material"]}
        for pixel in drawn(game, 15, 22).reshape(-1, 3):
            seen[names.get(code_of(pixel), "box")] += 1
    assert min(seen.values()) > 20, seen


NEAR = 0.01
POSES = [
    {"x": 5.0, "z": 8 - NEAR}, {"x": 2 + NEAR, "z": 5.0}, {"x": 2 + NEAR, "z": 2 + NEAR},
    {"x": 8 - NEAR, "z": 8 - NEAR}, {"x": 2 + 1e-6, "z": 5.0}, {"x": 2 + 1e-6, "z": 8 - 1e-6}, {"x": 4.0, "z": 4.0},
]  # fmt: skip


@pytest.mark.parametrize("size", [(24, 32), (15, 22), (7, 9)])
@pytest.mark.parametrize("pose", POSES)
def test_no_holes_at_walls(pose, size):
    """Pixels do not depend on what the picture held before, and nothing is black."""
    for yaw in (-180, -135, -90, -45, 0, 30, 45, 90, 179.999):
        for pitch in (0, -30, 20):
            game = empty_game()
            place(game, **pose, yaw=yaw, pitch=pitch)
            first, second = drawn(game, *size, fill=77), drawn(game, *size, fill=255)
            assert (first == second).all()
            assert {code_of(pixel) for pixel in first.reshape(-1, 3)} <= {0, 1, *range(SKY_CODE, SKY_CODE + 5)}


def test_a_wall_right_ahead_fills_the_picture():
    for yaw, x, z in ((0, 5, 8 - NEAR), (90, 8 - NEAR, 5), (180, 5, 2 + NEAR), (-90, 2 + NEAR, 5)):
        game = empty_game()
        place(game, yaw=yaw, x=x, z=z)
        assert {code_of(pixel) for pixel in drawn(game, 24, 32).reshape(-1, 3)} == {0}


@pytest.mark.parametrize("thickness", [1.0, 0.1, 0.02])
def test_a_box_right_ahead_fills_the_picture(thickness):
    for yaw in (0, 90, 180, -90):
        game = empty_game()
        sin, cos = round(math.sin(math.radians(yaw))), round(math.cos(math.radians(yaw)))
        near, far = NEAR, NEAR + thickness
        xs = sorted((5 + near * sin, 5 + far * sin)) if sin else (4, 6)
        zs = sorted((5 + near * cos, 5 + far * cos)) if cos else (4, 6)
        game["boxes"][0] = *xs, 0, 2, *zs
        place(game, yaw=yaw, num_boxes=1)
        game["box_material"][0] = 7
        assert {code_of(pixel) for pixel in drawn(game, 24, 32).reshape(-1, 3)} == {7}


def test_far_walls_are_darker():
    game = empty_game(9, 9)
    game["x"] = 9.0
    lights = []
    for z in np.linspace(15.9, 2.1, 12):
        game["z"] = z
        lights.append(int(drawn(game, 15, 23)[7, 11].max()))
    assert sorted(lights, reverse=True) == lights
    assert lights[-1] < 0.85 * lights[0]


def split(texels: np.ndarray) -> np.ndarray:
    return np.stack([texels & 255, texels >> 8 & 255, texels >> 16], -1).astype(int)


def test_copies_are_means():
    texture = np.random.default_rng(0).integers(0, 256, (SIZE, SIZE, 3))
    flat = with_copies(texture.astype(float))
    assert flat.shape == (STRIDE,)
    for level in range(5):
        block, side = 2**level, SIZE >> level
        start = STRIDE - (STRIDE >> 2 * level)
        mean = texture.reshape(side, block, side, block, 3).mean((1, 3))
        assert abs(split(flat[start : start + side**2]).reshape(side, side, 3) - mean).max() <= 1


def test_coarse_copies_are_for_the_distance():
    surfaces = SURFACES.copy()
    for level in range(5):
        surfaces[STRIDE - (STRIDE >> 2 * level) : STRIDE] = SURFACES[level * STRIDE]  # material 0 is the wall's
    game = empty_game(9, 9)
    game["x"] = 9.0
    seen = []
    for z in np.linspace(15.9, 2.1, 200):
        game["z"] = z
        seen.append(code_of(drawn(game, 15, 23, surfaces=surfaces)[7, 11]))
    assert sorted(seen) == seen
    assert set(seen) == {0, 1, 2, 3, 4}


def test_the_first_row_of_a_texture_is_its_top():
    surfaces = SURFACES.copy()
    surfaces[SIZE * SIZE // 2 : SIZE * SIZE] = SURFACES[3 * STRIDE]  # the lower half of the wall's material
    game = empty_game()
    place(game, wall_height=1.0, eye=0.5, z=7.4)
    for yaw, x, z in ((0, 5, 7.5), (90, 7.5, 5), (180, 5, 2.5), (-90, 2.5, 5)):
        place(game, yaw=yaw, x=x, z=z)
        codes = [code_of(pixel) for pixel in drawn(game, 96, 96, surfaces=surfaces)[:, 48]]
        assert codes == [0] * 48 + [3] * 48
