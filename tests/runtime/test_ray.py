"""Runs on real Ray clusters of several nodes, with processes and nodes killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean

import pytest
import ray
import torch
from ray.cluster_utils import Cluster
from ray.exceptions import ActorDiedError, ObjectStoreFullError, OutOfDiskError, OutOfMemoryError
from tiny_runs import UNROLL, UPDATE, rows, tiny_config, trained

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.cli import main
from memorylab.envs.diagnostic_games import SIDE, RememberBit
from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.human_normalised import snapshot
from memorylab.learning.config import LearnerConfig
from memorylab.learning.evaluation import evaluation_seed, play_episodes
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trained import load_trained
from memorylab.runs.checkpoints import checkpoints, load_checkpoint
from memorylab.runtime import in_process
from memorylab.runtime import training as module
from memorylab.runtime.command import parting_words, train
from memorylab.runtime.interrupt import AskedToEnd
from memorylab.runtime.on_ray import cluster as cluster_module
from memorylab.runtime.on_ray import trouble
from memorylab.runtime.on_ray.actor_pool import ActorPool, Member
from memorylab.runtime.on_ray.cluster import probe
from memorylab.runtime.on_ray.learners import Learners, await_all
from memorylab.runtime.on_ray.options import ClusterOptions
from memorylab.runtime.on_ray.runtime import RayRuntime
from memorylab.runtime.on_ray.sweep import run_many
from memorylab.runtime.on_ray.training import training_on_ray
from memorylab.runtime.protocol import LearnerLost, Stage, Stuck
from memorylab.runtime.training import Training

pytestmark = pytest.mark.usefixtures("hasty")

SYSTEM = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_failure_threshold": 3,
    "worker_niceness": 0,
}
NODE = {"object_store_memory": 100 * 2**20, "include_dashboard": False}
QUIET = {"evaluate_every": 0}


@pytest.fixture(scope="module")
def cluster():
    """Three nodes of one core each."""
    made = Cluster(True, head_node_args={"num_cpus": 1, "_system_config": SYSTEM, **NODE})
    made.connect()
    for _ in range(2):
        made.add_node(num_cpus=1, **NODE)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def ray_run(config, folder: Path, **options) -> Training:
    training = training_on_ray(config, folder, ClusterOptions(**options), threads=1)
    try:
        training.run()
    finally:
        training.close()
    return training


def at_update(monkeypatch, number: int, act) -> None:
    """Call `act` with the runtime after the update of that number."""
    plain, calls = RayRuntime.advance, []

    def watched(self, *arguments):
        progress = plain(self, *arguments)
        calls.append(None)
        if len(calls) == number:
            act(self)
        return progress

    monkeypatch.setattr(RayRuntime, "advance", watched)


def process_of(handle) -> int:
    return ray.get(handle.__ray_call__.remote(lambda _: os.getpid()))


def node_of(handle) -> str:
    return ray.get(handle.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id()))


def kill_node(cluster: Cluster, node_id: str) -> None:
    [node] = [node for node in cluster.list_all_nodes() if node.node_id == node_id]
    for processes in node.all_processes.values():
        for each in processes:
            each.process.kill()


def test_one_actor_gives_the_weights_of_one_process(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(in_process, "takes_turns", lambda device: False)  # an actor of a cluster plays on
    config = tiny_config(**QUIET)
    trained(config, tmp_path / "here")
    done = ray_run(config, tmp_path / "ray")
    assert done.curriculum.stage == 2
    (here, facts), (there, other) = (load_checkpoint(tmp_path / name / "checkpoints") for name in ("here", "ray"))
    assert {name.split(".")[0] for name in there} == {"agent", "optimiser", "steps"}
    for name, part in there.items():
        assert torch.equal(part, here[name]), name
    assert all(facts[name] == other[name] for name in ("step", "version", "episodes", "curriculum"))
    longer = trained(replace(config, steps=50 * UPDATE), tmp_path / "ray")  # and on in one process
    assert (longer.step, longer.runtime.learner.version) == (50 * UPDATE, 50)


def test_a_node_is_lost_with_a_trajectory_the_learner_was_to_take(cluster, tmp_path, monkeypatch, capsys):
    def lose_a_node(runtime: RayRuntime) -> None:
        away = [i for i, m in enumerate(runtime.pool.members) if node_of(m.handle) != cluster.head_node.node_id]
        until = time.monotonic() + 100
        while not any(arrival.actor == away[0] for arrival in runtime.ready):
            assert time.monotonic() < until
            runtime.ready += runtime.pool.arrivals(1.0)
            runtime.ready = [arrival for arrival in runtime.ready if arrival.actor == away[0]]
        kill_node(cluster, node_of(runtime.pool.members[away[0]].handle))

    at_update(monkeypatch, 10, lose_a_node)
    at_update(monkeypatch, 20, lambda _: cluster.add_node(num_cpus=1, **NODE))
    games = 16  # Ray keeps on the node what is more than 100 kB
    done = ray_run(tiny_config(**QUIET, num_envs=games, steps=40 * games * UNROLL), tmp_path, actors=2)
    metrics = rows(tmp_path / "metrics.csv")
    assert float(metrics[0]["bytes_per_step"]) * games * UNROLL > 100_000
    assert [int(row["step"]) for row in metrics] == [games * UNROLL * update for update in range(1, 41)]
    assert done.runtime.learner.version == 40, "every step that was counted was learned from, once"
    assert metrics[-1]["actors_replaced"] == "1"
    assert capsys.readouterr().err.count("died and is replaced") == 1


def test_the_driver_is_asked_to_end_and_saves_unless_the_learner_was_ended_too(cluster, tmp_path, monkeypatch):
    """A batch system asks all processes of a run at once."""
    with monkeypatch.context() as patch:
        at_update(patch, 2, lambda _: os.kill(os.getpid(), signal.SIGTERM))
        with pytest.raises(AskedToEnd, match="SIGTERM"):
            ray_run(tiny_config(**QUIET), tmp_path)
    assert load_checkpoint(tmp_path / "checkpoints")[1]["step"] == 2 * UPDATE

    def end_both(runtime: RayRuntime) -> None:
        os.kill(process_of(runtime.learner.workers[0]), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGTERM)

    at_update(monkeypatch, 2, end_both)
    training = training_on_ray(tiny_config(**QUIET), tmp_path, ClusterOptions(), threads=1)
    with pytest.raises(AskedToEnd, match="SIGTERM"):
        training.run()
    training.close()
    assert load_checkpoint(tmp_path / "checkpoints")[1]["step"] == 2 * UPDATE
    assert parting_words(training, Path("runs/one")) == (
        "step 80 could not be saved; runs/one holds step 40, from where the same command goes on"
    )


def test_learner_and_evaluation_are_killed_and_the_run_goes_on(cluster, tmp_path, monkeypatch, capsys):
    """A run that began in one process."""
    settings = {"evaluation_levels": ("train",), "evaluation_episodes": 1}
    trained(tiny_config(**settings, steps=5 * UPDATE), tmp_path)
    save = Training.save

    def seldom(self):
        if self.step % (7 * UPDATE) == 0 or self.step == self.config.steps:
            save(self)

    monkeypatch.setattr(Training, "save", seldom)
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", -1.0)
    at_update(monkeypatch, 1, lambda _: os.kill(worker_named("ray::RemoteEvaluator"), signal.SIGKILL))
    at_update(monkeypatch, 7, lambda runtime: os.kill(process_of(runtime.learner.workers[0]), signal.SIGKILL))
    done = ray_run(tiny_config(**settings, steps=30 * UPDATE), tmp_path)
    assert [int(row["step"]) for row in rows(tmp_path / "metrics.csv")] == list(range(UPDATE, 30 * UPDATE + 1, UPDATE))
    assert done.runtime.learner.version == 30
    assert f"the learner died at step {12 * UPDATE}; going on from step {7 * UPDATE}" in capsys.readouterr().err
    evaluated = [int(row["step"]) for row in rows(tmp_path / "scores.csv")]
    assert evaluated == sorted(set(evaluated)), "no evaluation twice"
    assert evaluated[-1] == 30 * UPDATE
    seeds = {int(row["step"]): int(row["seed"]) for row in rows(tmp_path / "scores.csv")}
    assert seeds == {step: evaluation_seed(0, step) for step in seeds}, "as in one process"
    (run,) = find_runs([tmp_path], pytest.fail)
    assert load_trained(tmp_path).step == snapshot(run).step


def test_a_hung_learner_is_replaced_and_a_cluster_that_lost_its_nodes_is_told(cluster, tmp_path, monkeypatch, capfd):
    """What takes 40 seconds each is made quick."""
    monkeypatch.setattr(trouble, "HUNG_SECONDS", 6.0)
    monkeypatch.setattr(trouble, "ROOM_SECONDS", 2.0)
    config = tiny_config(**QUIET, steps=10**6)

    def lose_all(_: RayRuntime) -> None:
        for node in cluster.list_all_nodes():
            if node is not cluster.head_node:
                kill_node(cluster, node.node_id)

    def hang(runtime: RayRuntime) -> None:
        os.kill(process_of(runtime.learner.workers[0]), signal.SIGSTOP)

    at_update(monkeypatch, 2, hang)
    at_update(monkeypatch, 5, lose_all)
    training = training_on_ray(config, tmp_path, ClusterOptions(), threads=1)
    training.checkpoint_seconds = 0.0
    try:
        with pytest.raises(RuntimeError, match="no room for any actor for 2 s: nodes were lost") as stuck:
            training.run()
    finally:
        training.close()
        for _ in range(2):
            cluster.add_node(num_cpus=1, **NODE)
    saved = load_checkpoint(tmp_path / "checkpoints")[1]["step"]
    assert saved >= 3 * UPDATE
    assert str(stuck.value).endswith(f"what was learned until step {saved:,} is saved")
    assert "the learner died at step 40; going on from step 20 (it has hung for 6 s)" in capfd.readouterr().err


def test_a_stopped_actor_holds_up_nobody_and_its_old_trajectory_is_dropped(cluster, tmp_path, monkeypatch):
    stopped = []

    def stop(runtime: RayRuntime) -> None:
        stopped.append(process_of(runtime.pool.members[1].handle))
        os.kill(stopped[0], signal.SIGSTOP)

    def go_on(_: RayRuntime) -> None:
        os.kill(stopped[0], signal.SIGCONT)

    at_update(monkeypatch, 20, stop)
    at_update(monkeypatch, 60, go_on)
    ray_run(tiny_config(**QUIET, steps=120 * UPDATE), tmp_path, actors=2, max_lag=10)
    metrics = rows(tmp_path / "metrics.csv")
    assert max(float(row["policy_lag_max"]) for row in metrics) <= 10
    assert metrics[-1]["trajectories_dropped"] == "1"
    assert metrics[-1]["actors_replaced"] == "0"
    assert max(float(row["queue_depth"]) for row in metrics) <= 2
    assert {row["actor"] for row in rows(tmp_path / "actors.csv")} == {"0", "1"}
    histogram = [name for name in metrics[0] if name.startswith("lag_")]
    assert all(abs(sum(float(row[name]) for name in histogram) - 1) < 1e-6 for row in metrics)


BIT = {"learning_rate": 5e-3, "entropy_cost": 0.02, "discount": 0.9, "adam_epsilon": 1e-8, "gradient_norm": 1.0}


def test_a_bit_is_learned_by_two_actors_and_two_learners(cluster):
    """As in one process (test_tiny_games); afterwards both learners have the same weights."""
    cluster.add_node(num_cpus=1, **NODE)
    sizes = {"embedding_size": 32, "hidden_size": 32}
    base = AgentConfig(encoder="small", height=SIDE, width=SIDE, actions=RememberBit.actions, **sizes)
    agent = model_config("lstm", base)
    learners = Learners(agent, LearnerConfig(reduction="mean", **BIT), seed=0, learners=2)
    pool = ActorPool(partial(RememberBit, 5, 8), agent, unroll=24, actors=2)
    runtime = RayRuntime(learners, pool, 2, Stopwatch())
    runtime.begin(Stage({}, seed=0))
    scores: list[float] = []
    for _ in range(500):
        scores += [episode.score for episode in runtime.advance(0.0).episodes]
        if len(scores) > 200 and mean(scores[-200:]) >= 0.95:
            break
    one, other = ([torch.tensor(part) for part in ray.get(w.weights.remote())] for w in learners.workers)
    os.kill(process_of(learners.workers[1]), signal.SIGKILL)
    with pytest.raises(LearnerLost):
        runtime.advance(0.0)
    runtime.close()
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    trained_agent = MemoryRecallAgent(agent)
    with torch.no_grad():
        for mine, theirs in zip(trained_agent.parameters(), one, strict=True):
            mine.copy_(theirs)
    assert mean(e.score for e in play_episodes(RememberBit(5, 100, seed=1), trained_agent, 400, seed=1)) >= 0.9


SIZES = ("height", 20, "width", 24, "embedding-size", 8, "hidden-size", 8, "key-size", 4, "capacity", 16)
LOOP = ("num-envs", 4, "unroll", 5, "cpc-steps", 3, "evaluation-episodes", 1, "evaluate-every", 400, "steps", 800)
TINY = [f"--{part}" if i % 2 == 0 else str(part) for i, part in enumerate((*SIZES, *LOOP))]


def test_the_driver_is_killed_and_the_same_command_goes_on(cluster, tmp_path, monkeypatch):
    """With a task of a user's own, of which the nodes of the cluster have not heard."""
    monkeypatch.setenv("MEMORYLAB_EXTENSIONS", str(Path(__file__).parents[2] / "examples" / "my_task.py"))
    command = [sys.executable, str(Path(__file__).with_name("ray_driver.py")), "two_doors", *TINY]
    command += ["--evaluation-levels", "train", "--address", cluster.address, "--out", str(tmp_path / "run")]
    until = time.monotonic() + 200
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as driver:
        while len(rows(tmp_path / "run" / "metrics.csv")) < 10:
            assert driver.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        driver.kill()
    kept = int(checkpoints(tmp_path / "run" / "checkpoints")[-1].stem.removeprefix("step-"))
    assert 0 < kept < 800
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert f"going on with {tmp_path / 'run'} at step {kept}" in done.stderr
    assert [int(row["step"]) for row in rows(tmp_path / "run" / "metrics.csv")] == list(range(UPDATE, 801, UPDATE))
    steps = [int(row["step"]) for row in rows(tmp_path / "run" / "scores.csv")]
    assert steps == sorted(set(steps)), "no evaluation twice"
    assert steps[-1] == 800


# --- what goes wrong


def asked(monkeypatch, problem: Exception) -> None:
    """Whatever is asked of Ray ends with this."""

    def answer(*_, **__):
        raise problem

    monkeypatch.setattr(ray, "wait", lambda futures, **_: (list(futures), []))
    monkeypatch.setattr(ray, "get", answer)


@pytest.mark.parametrize("problem", [OutOfMemoryError("too large"), ActorDiedError()])
def test_whoever_is_ended_for_its_memory_is_as_dead_as_others(monkeypatch, problem, capsys):
    asked(monkeypatch, problem)
    with pytest.raises(LearnerLost):
        await_all(["update"])
    pool = ActorPool(partial(RememberBit, 5, 8), AgentConfig(), unroll=24, actors=1)
    monkeypatch.setattr(ActorPool, "new_member", lambda self: "a new one")
    for _ in range(3):
        pool.members, pool.playing = [Member("handle", "ready", busy=True)], {"note": (0, "trajectory")}
        assert pool.arrivals(None) == []
        assert pool.members == ["a new one"]
    assert "actor 0 died and is replaced" in capsys.readouterr().err
    pool.members, pool.playing = [Member("handle", "ready", busy=True)], {"note": (0, "trajectory")}
    with pytest.raises(Stuck, match="actors die before they have played anything"):
        pool.arrivals(None)


@pytest.mark.parametrize("problem", [ObjectStoreFullError("no room"), OutOfDiskError("no room")])
def test_a_full_object_store_is_told_in_one_sentence(monkeypatch, problem):
    asked(monkeypatch, problem)
    said = "Ray's object store is full, or the disk behind it; fewer --actors or --envs-per-actor need less of it"
    with pytest.raises(Stuck, match=said):
        await_all(["update"])
    pool = ActorPool(partial(RememberBit, 5, 8), AgentConfig(), unroll=24, actors=1)
    pool.members, pool.playing = [Member("handle", "ready", busy=True)], {"note": (0, "trajectory")}
    with pytest.raises(Stuck, match=said):
        pool.arrivals(None)


def told(capsys, *arguments: str) -> str:
    """The one sentence of a command that fails."""
    with pytest.raises(SystemExit) as end:
        main(["train", "avm", *arguments])
    assert end.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_without_ray_the_extra_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    said = told(capsys, "--runtime", "ray", "--out", str(tmp_path / "run"))
    assert said == "memorylab: --runtime ray needs Ray: pip install 'memorylab-rl[cluster]'"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--actors", "2"], "need --runtime ray"),
        (["--runtime", "ray", "--actors", "0"], "actors must be at least 1, not 0"),
        (["--runtime", "ray", "--num-envs", "32", "--envs-per-actor", "20"], "num-envs must be a multiple of"),
        (
            ["--runtime", "ray", "--learners", "5"],
            "num-envs must be a multiple of envs-per-actor x learners, 160, not 32",
        ),
        (["--runtime", "ray", "--learner-gpus", "1"], "the learners need 1 GPUs, the cluster has 0"),
    ],
)
def test_settings_that_cannot_be_are_told(cluster, capsys, tmp_path, arguments, said):
    assert said in told(capsys, *arguments, "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_wrong_address_is_told_within_30_seconds(monkeypatch):
    assert 2.5 * cluster_module.PROBE_SECONDS < 30
    monkeypatch.setattr(cluster_module, "PROBE_SECONDS", 1)
    start = time.monotonic()
    for address, said in (("nonsense", "must be auto or HOST:PORT"), ("127.0.0.1:9", "Connection refused")):
        with pytest.raises(ValueError, match=said):
            probe(address)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ValueError, match=f"no Ray cluster that lets us in answers at {address}"):
            probe(address)
    assert time.monotonic() - start < 10


# --- many runs


def test_many_runs_share_the_cluster_and_survive_a_kill(cluster, tmp_path):
    few = [*TINY, "--evaluate-every", "0", "--steps", "2000", "--threads", "1"]
    arguments = [["avm", *few, "--out", str(tmp_path / name)] for name in ("one", "two")]
    running = run_many(train, [*arguments, ["nosuch"]])
    ended = [next(running)]
    assert ended[0].code == 2
    assert "unknown task 'nosuch'" in ended[0].error
    os.kill(worker_named("ray::run_command"), signal.SIGKILL)
    ended += running
    assert {(each.number, each.code) for each in ended} == {(0, 0), (1, 0), (2, 2)}
    assert [checkpoints(tmp_path / n / "checkpoints")[-1].stem for n in ("one", "two")] == ["step-000000002000"] * 2


def worker_named(title: str) -> int:
    for _ in range(100):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if path.read_bytes().startswith(title.encode()):
                    return int(path.parent.name)
        time.sleep(0.1)
    raise AssertionError(f"no {title}")
