"""The environments from outside: conformance, determinism, buffers, bad input."""

import multiprocessing
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import memorylab
from memorylab.tasks.task import PACKAGED, TASKS, find_task

CELLS = [(task, level) for task in memorylab.TASKS for level in memorylab.LEVELS]


def rollout(env, actions, seed=None):
    """Copies of everything a vector environment returns."""
    pictures, _ = env.reset(seed=seed)
    steps = [(pictures.copy(),)]
    for action in actions:
        *returned, info = env.step(action)
        steps.append((*(part.copy() for part in returned), info["score"].copy(), info["seed"].copy()))
    return steps


def assert_same(first, second, games=slice(None), others=slice(None)):
    for one, two in zip(first, second, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a[games], b[others])


# --- conformance


@pytest.mark.parametrize(("task", "level"), CELLS)
def test_gymnasium_checks_pass(task, level):
    env = gymnasium.make(f"memorylab/{task}_{level}-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize(("short", "task"), [*zip(PACKAGED, TASKS, strict=True)])
def test_a_short_id_is_the_training_level(short, task):
    assert gymnasium.spec(f"memorylab/{short}-v0").kwargs == {"task": task, "level": "train"}


def test_short_ids_make_environments():
    env = gymnasium.make("memorylab/avm-v0", trials=2)
    assert (env.unwrapped.batch.task.name, env.unwrapped.batch.level) == ("arbitrary_visuomotor_mapping", "train")
    assert gymnasium.make_vec("memorylab/avm-v0", num_envs=2).batch.level == "train"


def test_options_that_reset_does_not_know_are_refused():
    env, envs = memorylab.make("avm"), memorylab.make_vec("avm", num_envs=2)
    with pytest.raises(ValueError, match="reset takes no options, not 'level'; level and scale are chosen by make"):
        env.reset(options={"level": "train"})
    with pytest.raises(ValueError, match="reset takes only the option reset_mask, not 'mask'"):
        envs.reset(options={"reset_mask": np.array([True, True]), "mask": 1})
    for nothing in (None, {}):
        env.reset(seed=1, options=nothing)
        envs.reset(seed=1, options=nothing)


def test_capitals_do_not_matter_in_the_names_of_tasks():
    assert find_task("AVM") is find_task("avm") is find_task("Arbitrary_Visuomotor_Mapping")


def test_registered_ids_make_vector_environments():
    envs = gymnasium.make_vec("memorylab/change_detection_holdout_extrapolate-v0", num_envs=3)
    assert isinstance(envs, memorylab.envs.vector.MemoryVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert envs.reset(seed=0)[0].shape == (3, 72, 96, 3)
    assert envs.observation_space.contains(envs.step(envs.action_space.sample())[0])


def test_gymnasium_wrappers_work():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(memorylab.make_vec("avm", num_envs=4, trials=1, seconds=3))
    env.reset(seed=0)
    for _ in range(45):
        *_, info = env.step(np.full(4, 4))
    assert info["episode"]["l"].tolist() == [45] * 4
    assert info["final_info"]["length"].tolist() == [45] * 4


# --- determinism


@pytest.mark.parametrize("task", memorylab.TASKS)
@pytest.mark.parametrize("batch", [1, 7, 256])
@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_and_actions_same_episode_bit_for_bit(task, batch, threads):
    """Game i of a batch is the same whatever the batch; episodes end and begin again within the run."""
    steps = 60
    actions = np.random.default_rng(0).integers(0, 5, (steps, 256))
    scale = {"seconds": 2.2}
    reference = rollout(memorylab.make_vec(task, num_envs=9, threads=1, size=(36, 48), **scale), actions[:, :9], seed=5)
    again = rollout(
        memorylab.make_vec(task, num_envs=batch, threads=threads, size=(36, 48), **scale), actions[:, :batch], seed=5
    )
    common = min(batch, 9)
    assert_same(reference, again, slice(common), slice(common))
    assert reference[-1][-1][0] != reference[1][-1][0]  # a later episode has another seed


@pytest.mark.parametrize("task", memorylab.TASKS)
def test_a_game_can_be_replayed_alone_from_the_seed_in_info(task):
    envs = memorylab.make_vec(task, num_envs=5, seed=11, seconds=20)
    pictures, info = envs.reset()
    seed = int(info["seed"][3])
    alone = memorylab.make(task, seconds=20)
    picture, _ = alone.reset(seed=seed)
    np.testing.assert_array_equal(picture, pictures[3])
    actions, over = np.zeros(5, np.int64), False
    for _ in range(400):
        envs.batch.act("remembering", actions)
        pictures, rewards, terminated, truncated, info = envs.step(actions)
        picture, reward, *flags, facts = alone.step(actions[3])
        assert (reward, *flags) == (rewards[3], terminated[3], truncated[3])
        if any(flags):
            np.testing.assert_array_equal(picture, info["final_obs"][3])
            assert {name: values[3] for name, values in info["final_info"].items()} == facts
            assert info["seed"][3] != seed
            over = True
            break
        np.testing.assert_array_equal(picture, pictures[3])
    assert over


def test_a_list_of_seeds_puts_a_game_anywhere_in_the_batch():
    first, second = (memorylab.make_vec("cr", num_envs=3) for _ in range(2))
    actions = np.random.default_rng(1).integers(0, 5, (30, 3))
    one = rollout(first, actions, seed=[4, 8, 15])
    two = rollout(second, actions[:, ::-1], seed=[15, 8, 4])
    assert_same(one, two, slice(None), slice(None, None, -1))


def test_different_seeds_differ_and_no_seed_is_random():
    env = memorylab.make("avm")
    views = [env.reset(seed=seed)[0] for seed in (1, 2, 1)]
    assert (views[0] == views[2]).all()
    assert (views[0] != views[1]).any()
    assert memorylab.make("avm").reset()[1]["seed"] != memorylab.make("avm").reset()[1]["seed"]
    assert memorylab.make("avm", seed=7).reset()[1]["seed"] == 7


@pytest.mark.parametrize("copied_by", ["pickle", "fork"])
def test_a_copy_goes_on_where_the_original_was(copied_by):
    env = memorylab.make_vec("avm", num_envs=8, seed=3, threads=2)
    actions = np.random.default_rng(2).integers(0, 5, (40, 8))
    rollout(env, actions[:20])
    if copied_by == "pickle":
        copy = pickle.loads(pickle.dumps(env))
        theirs = [copy.step(action)[0].copy() for action in actions[20:]]
    else:
        queue = multiprocessing.get_context("fork").SimpleQueue()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python warns that the parent has threads
            child = multiprocessing.get_context("fork").Process(
                target=lambda: queue.put([env.step(action)[0].copy() for action in actions[20:]])
            )
            child.start()
        theirs = queue.get()
        child.join(60)
        assert child.exitcode == 0
    ours = [env.step(action)[0].copy() for action in actions[20:]]
    np.testing.assert_array_equal(ours, theirs)


# --- buffers and autoreset


def test_the_caller_may_own_the_pictures():
    env, twin = (memorylab.make_vec("wtw", num_envs=4, seed=0) for _ in range(2))
    store = np.zeros((3, 4, 72, 96, 3), np.uint8)
    env.reset(out=store[0])
    twin.reset()
    for t in (1, 2):
        pictures, *_ = env.step(np.full(4, t), out=store[t])
        assert pictures is store[t] or np.shares_memory(pictures, store[t])
        np.testing.assert_array_equal(store[t], twin.step(np.full(4, t))[0])


def test_observations_of_one_game_are_new_arrays():
    env = memorylab.make("cr", seed=0)
    kept, _ = env.reset()
    before = kept.copy()
    env.step(0)
    np.testing.assert_array_equal(kept, before)


def test_reset_mask_begins_only_the_chosen_games():
    env = memorylab.make_vec("cr", num_envs=3, seed=0)
    env.reset()
    for _ in range(5):
        env.step(np.zeros(3, np.int64))
    _, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert info["length"].tolist() == [5, 0, 5]


def test_info_tells_return_length_score_and_scale():
    env = memorylab.make("avm", "holdout_extrapolate")
    _, info = env.reset(seed=0)
    assert {"return", "length", "score", "scale", "seed", "trial"} <= set(info)
    assert info["scale"] == 75


@pytest.mark.parametrize("size", [(36, 48), (64, 64), (9, 200), (240, 320)])
def test_any_picture_size(size):
    env = memorylab.make("cd", size=size)
    picture, _ = env.reset(seed=0)
    assert picture.shape == (*size, 3)
    assert picture.std() > 5


def test_sticks_walk_and_look_as_the_actions_do():
    by_action, by_stick = memorylab.make("vgb", seed=4), memorylab.make("vgb", seed=4, continuous=True)
    by_action.reset(), by_stick.reset()
    for action, sticks in enumerate([(0, 1), (0, -1), (-1, 0), (1, 0), (0, 0, -1), (0, 0, 1), (0, 1, -1), (0, 1, 1)]):
        for _ in range(6):
            picture, *_ = by_action.step(action)
            same, *_ = by_stick.step(np.array([*sticks, 0, 0][:4], float))
            np.testing.assert_array_equal(picture, same)
    by_stick.step(np.array([0, 0, 0, 0.5]))
    assert by_stick.batch.records["pitch"][0] == pytest.approx(4 * 0.5 * 2.112)
    with pytest.raises(ValueError, match="four numbers from -1 to 1"):
        by_stick.step(np.array([0, 2, 0, 0]))


# --- bad input: one clear error each


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: memorylab.make("chess"), r"unknown task 'chess'; the tasks are .*change_detection \(cd\)"),
        (lambda: memorylab.make("avm", "hard"), r"unknown level 'hard'; the levels are .*holdout_interpolate"),
        (lambda: memorylab.make("iga", side=3), r"side must be a number of metres from 6 to 200"),
        (lambda: memorylab.make("vgm", cells=12), r"cells must be an odd number from 7 to 63"),
        (lambda: memorylab.make("sdmo", objects=(1,)), r"objects must be whole numbers from 2 to 12"),
        (lambda: memorylab.make("ti", objects=11), r"objects must be a whole number from 4 to 10"),
        (lambda: memorylab.make("sdb", delay=-1), r"delay must be a number of seconds"),
        (lambda: memorylab.make("avm", continuous=True), r"has no continuous actions"),
        (lambda: memorylab.make("avm", delays=5), r"argument 'delays'; its scale keywords are trials, seconds"),
        (lambda: memorylab.make("cd", trials=0), r"trials must be a whole number, 1 or more, not 0"),
        (lambda: memorylab.make("cd", trials=2**31), r"trials must be 2,147,483,647 at most, not 2,147,483,648"),
        (lambda: memorylab.make("cd", delays=()), r"delays must hold at least one value, not \(\)"),
        (lambda: memorylab.make("wtw", delays=[]), r"delays must hold at least one value, not \[\]"),
        (lambda: memorylab.make("cd", seconds=-1), r"seconds must be a number"),
        (lambda: memorylab.make("cd", delays=(4, -4)), r"delays must be up to 32 whole numbers"),
        (lambda: memorylab.make("cd", size=(-72, 96)), r"size must be \(height, width\)"),
        (lambda: memorylab.make("cd", size=72), r"size must be \(height, width\)"),
        (lambda: memorylab.make("cd", seed=-1).reset(), r"a seed must be a whole number"),
        (lambda: memorylab.make("cd").reset(seed=1.5), r"a seed must be a whole number from 0 to .*, not 1.5"),
        (lambda: memorylab.make("cd", render_mode="window"), r"render_mode must be 'human', 'rgb_array' or None"),
        (lambda: memorylab.make_vec("cd", num_envs=0), r"num_envs must be a whole number, 1 or more"),
        (lambda: memorylab.make_vec("cd", num_envs=2, threads=0), r"threads must be a whole number"),
        (lambda: memorylab.make_vec("cd", num_envs=2).reset(seed=[1]), r"1 seeds were given for 2 games"),
        (lambda: memorylab.make("cd").step(0), r"call reset\(\) before step\(\)"),
        (lambda: memorylab.make_vec("cd", num_envs=2).step(np.zeros(2, int)), r"call reset\(\) before step\(\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        call()


@pytest.mark.parametrize("action", [5, -1, 2.5, "left", None, 10**9])
def test_bad_single_actions(action):
    env = memorylab.make("cd")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action"):
        env.step(action)
    env.step(0)


@pytest.mark.parametrize(
    "actions",
    [np.array([0, 5]), np.array([-1, 0]), np.zeros(3, int), np.zeros((2, 1), int), np.zeros(2), 0, ["a", "b"]],
)
def test_bad_batches_of_actions(actions):
    env = memorylab.make_vec("cd", num_envs=2, seed=0)
    env.reset()
    with pytest.raises(ValueError, match="actions must be"):
        env.step(actions)
    env.step(np.zeros(2, np.int8))


def test_after_the_end_and_after_close():
    env = memorylab.make("avm", seconds=1)
    env.reset(seed=0)
    while not env.step(4)[3]:
        pass
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(4)
    for closed in (env, memorylab.make_vec("avm", num_envs=2)):
        closed.close()
        closed.close()
        with pytest.raises(RuntimeError, match="closed"):
            closed.reset()
        with pytest.raises(RuntimeError, match="closed"):
            closed.step(0)


def test_bad_out_buffers():
    env = memorylab.make_vec("avm", num_envs=2, seed=0)
    for out in (
        np.zeros((2, 72, 96, 3)),
        np.zeros((3, 72, 96, 3), np.uint8),
        np.zeros((2, 72, 96, 6), np.uint8)[..., ::2],
    ):
        with pytest.raises(ValueError, match="out must be"):
            env.reset(out=out)
