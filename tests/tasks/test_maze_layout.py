import numpy as np
import pytest

from memorylab.tasks.navigation.maze_layout import (
    GOAL,
    SPAWN,
    draw_marked_cell,
    fill_dead_ends,
    generate_maze,
    shorten_horseshoes,
)
from memorylab.world import rng

# size, most rooms, room sides, goals per room; the goal rows of train and holdout, from the north and from 1; rooms
SETTINGS = {
    "small": ((11, 9, 3, 3, 5), (2, 5), (7, 10), (4, 4)),
    "large": ((15, 11, 3, 5, 10), (2, 7), (9, 14), (5.5, 8)),
    "larger": ((21, 13, 3, 7, 15), (2, 10), (12, 20), (10, 13)),
    "largest": ((27, 15, 3, 9, 20), (2, 13), (15, 26), (13, 15)),
}
SEEDS = range(60)
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))
each_setting = pytest.mark.parametrize("name", SETTINGS)


def stream(seed: int) -> np.record:
    record = np.zeros(1, np.dtype([("key", "u8"), ("draws", "u8")]))
    record["key"] = rng.episode_key(np.uint64(seed))
    return record[0]


class Maze:
    """A maze as sets of cells, the slow and obvious way."""

    def __init__(self, seed: int, shape: tuple, goal_rows: tuple):
        self.size = size = shape[0]
        self.goal_rows = (size - goal_rows[1], size - goal_rows[0])
        self.solid = np.full((size + 2, size + 2), 7, np.uint8)  # larger than the maze, and full of old values
        self.marks = np.full((size + 2, size + 2), 7, np.uint8)
        self.goal_count = generate_maze(stream(seed), self.solid, self.marks, *shape, *self.goal_rows)
        self.open = {(r, c) for r in range(size) for c in range(size) if self.solid[r, c] == 0}
        # Nothing but a room is open three cells wide.
        centres = [(r, c) for r, c in self.open if r % 2 == c % 2 == 0 and square(r, c) <= self.open]
        self.room_cells = set().union(*(square(r, c) for r, c in centres))
        self.rooms = components(self.room_cells)

    def marked(self, mark: int) -> set:
        return {(int(r), int(c)) for r, c in np.argwhere(self.marks[: self.size, : self.size] == mark)}


def square(row: int, column: int) -> set:
    return {(r, c) for r in range(row - 1, row + 2) for c in range(column - 1, column + 2)}


def neighbours(cell: tuple) -> set:
    return {(cell[0] + north, cell[1] + east) for north, east in SIDES}


def components(cells: set) -> list[set]:
    left, found = set(cells), []
    while left:
        part = frontier = {left.pop()}
        while frontier:
            frontier = set().union(*map(neighbours, frontier)) & left
            left -= frontier
            part = part | frontier
        found.append(part)
    return found


@pytest.fixture(scope="module")
def mazes() -> dict:
    return {name: [Maze(seed, shape, rows) for seed in SEEDS] for name, (shape, rows, _, _) in SETTINGS.items()}


@each_setting
def test_the_outer_wall_is_whole_and_nothing_is_written_beyond_it(mazes, name):
    for maze in mazes[name]:
        last = maze.size - 1
        assert all(0 < row < last and 0 < column < last for row, column in maze.open)
        assert set(np.unique(maze.solid[: maze.size, : maze.size])) == {0, 1}
        for array in (maze.solid, maze.marks):
            assert (array[maze.size :] == 7).all()
            assert (array[:, maze.size :] == 7).all()


@each_setting
def test_all_open_cells_are_connected(mazes, name):
    assert all(len(components(maze.open)) == 1 for maze in mazes[name])


@each_setting
def test_corridors_have_no_dead_ends(mazes, name):
    for maze in mazes[name]:
        assert all(len(neighbours(cell) & maze.open) >= 2 for cell in maze.open - maze.room_cells)


@each_setting
def test_rooms_are_rectangles_with_odd_sides_at_odd_cells(mazes, name):
    (_, max_rooms, shortest, longest, _), *_ = SETTINGS[name]
    for maze in mazes[name]:
        assert 1 <= len(maze.rooms) <= max_rooms
        for room in maze.rooms:
            rows, columns = zip(*room, strict=True)
            height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
            assert len(room) == height * width
            assert min(rows) % 2 == min(columns) % 2 == height % 2 == width % 2 == 1
            assert shortest <= min(height, width) <= max(height, width) <= longest


@each_setting
def test_number_of_rooms(mazes, name):
    *_, (low, high) = SETTINGS[name]
    counts = [len(maze.rooms) for maze in mazes[name]]
    assert low <= np.mean(counts) <= high
    if name == "small":
        assert set(counts) == {4}


@each_setting
def test_adjacent_rooms_are_joined_by_one_opening(mazes, name):
    for maze in mazes[name]:
        room_of = {cell: number for number, room in enumerate(maze.rooms) for cell in room}
        between: dict = {}
        for row in range(1, maze.size - 1):
            for column in range(1, maze.size - 1):
                if (row, column) not in room_of:
                    for north, east in ((1, 0), (0, 1)):
                        one = room_of.get((row - north, column - east))
                        other = room_of.get((row + north, column + east))
                        if one is not None and other is not None:
                            between.setdefault(frozenset((one, other)), []).append((row, column))
        assert all(sum(cell in maze.open for cell in cells) == 1 for cells in between.values())


@each_setting
def test_no_horseshoe_is_left(mazes, name):
    for maze in mazes[name]:
        corridors = maze.open - maze.room_cells
        simple = {cell for cell in corridors if len(neighbours(cell) & maze.open) == 2}
        for row, column in corridors:
            for a, b in SIDES:  # out, then across to either side, then back
                for c, d in ((b, a), (-b, -a)):
                    bend = [(1, 0), (2, 0), (2, 1), (2, 2), (1, 2)]
                    cells = {(row + o * a + s * c, column + o * b + s * d) for o, s in bend}
                    is_bend = cells <= simple and (row + 2 * c, column + 2 * d) in corridors
                    assert not is_bend or (row + c, column + d) in maze.open


@each_setting
@pytest.mark.parametrize("split", ["train", "holdout"])
def test_marks_lie_in_rooms_and_goals_in_their_rows(mazes, name, split):
    shape, _, holdout_rows, _ = SETTINGS[name]
    goals_per_room = shape[-1]
    chosen = mazes[name] if split == "train" else [Maze(seed, shape, holdout_rows) for seed in SEEDS]
    for maze in chosen:
        spawns, goals = maze.marked(SPAWN), maze.marked(GOAL)
        assert maze.goal_count == len(goals)
        assert spawns | goals <= maze.room_cells
        low, high = maze.goal_rows
        assert all(low <= row <= high for row, _ in goals)
        for room in maze.rooms:
            assert len(room & spawns) == 5
            if all(low <= row <= high for row, _ in room):
                assert len(room & goals) == min(goals_per_room, len(room) - 5)
            else:
                assert len(room & goals) <= goals_per_room
    assert any(maze.goal_count for maze in chosen)


@each_setting
def test_the_split_changes_only_the_goals(mazes, name):
    shape, _, holdout_rows, _ = SETTINGS[name]
    train, holdout = mazes[name][5], Maze(5, shape, holdout_rows)
    assert (train.solid == holdout.solid).all()
    assert train.marked(SPAWN) == holdout.marked(SPAWN)


@each_setting
def test_same_key_same_maze_other_key_other_maze(mazes, name):
    shape, rows, *_ = SETTINGS[name]
    for seed in (0, 17, 42):
        again, maze = Maze(seed, shape, rows), mazes[name][seed]
        assert (again.solid == maze.solid).all()
        assert (again.marks == maze.marks).all()
    assert len({maze.solid.tobytes() + maze.marks.tobytes() for maze in mazes[name]}) == len(SEEDS)


@pytest.mark.parametrize("size", [7, 9, 35, 63])
def test_every_odd_size_works(size):
    for seed in range(5):
        maze = Maze(seed, (size, 40, 3, 5, 5), (1, size))
        assert len(components(maze.open)) == 1
        assert all(len(neighbours(cell) & maze.open) >= 2 for cell in maze.open - maze.room_cells)
        assert maze.goal_count > 0


def test_rooms_too_large_for_the_maze_are_left_out():
    maze = Maze(0, (7, 3, 3, 9, 5), (1, 7))
    assert maze.room_cells <= maze.open


WALLED = "#R#######R#"  # R is a room


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (  # a deep bend goes in two steps
            ["#R###...#R#", "#R###.#.#R#", "#R###.#.#R#", "#R###.#.#R#", "#R....#..R#"],
            [WALLED, WALLED, WALLED, WALLED, "#R.......R#"],
        ),
        (  # a branch keeps the part of the bend that leads to it
            ["#R###...#R#", "#R###.#.#R#", "#R###.#..R#", "#R###.#.#R#", "#R....#..R#"],
            [WALLED, WALLED, "#R###....R#", "#R###.#.#R#", "#R....#..R#"],
        ),
        (  # a bend that starts in a room stays: it would be a second opening
            ["#R###...#R#", "#R###.#.#R#", "#RRRRR#..R#", WALLED, WALLED],
            ["#R###...#R#", "#R###.#.#R#", "#RRRRR#..R#", WALLED, WALLED],
        ),
        (["#R..#####R#", "#R#.#####R#", "#R#...#..R#", WALLED, WALLED], [WALLED] * 5),  # a dead end is filled
    ],
)
@pytest.mark.parametrize("turns", range(4))
def test_corridors_are_simplified(before, after, turns):
    def drawn(lines):
        full = ["#" * 11, *lines, *[WALLED] * 4, "#" * 11]
        return np.rot90([list(line) for line in full], turns)

    solid = (drawn(before) == "#").astype(np.uint8)
    regions = (drawn(before) == "R").astype(np.int16)
    fill_dead_ends(solid, regions, 11, 1)
    while shorten_horseshoes(solid, regions, 11, 1):
        pass
    np.testing.assert_array_equal(solid, drawn(after) == "#")


def test_a_marked_cell_is_drawn_uniformly():
    marks = np.zeros((9, 9), np.uint8)
    cells = [(1, 1), (2, 5), (4, 3), (4, 4)]
    for cell in cells:
        marks[cell] = GOAL
    marks[8, 8] = GOAL  # beyond the maze
    game = stream(3)
    draws = [draw_marked_cell(game, marks, 7, GOAL) for _ in range(4000)]
    assert set(draws) == set(cells)
    assert all(abs(draws.count(cell) - 1000) < 150 for cell in cells)
    assert draw_marked_cell(game, marks, 7, SPAWN) == (-1, -1)
