"""What people type wrong: each mistake is answered by one sentence and exit code 2, before anything is written."""

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from memorylab.agent import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.cli import main
from memorylab.learning.presets import preset_config
from memorylab.runs.checkpoints import save_checkpoint

SMALL = AgentConfig(
    encoder="small", height=20, width=24, embedding_size=8, hidden_size=8, key_size=4, capacity=16, neighbours=3
)
LEAKS = ("╭", "│", "─", "Traceback", "<class", "NoneType", "typing.", "Errno", "invalid literal", "could not convert")

# RUN is the folder of a run of Arbitrary Visuomotor Mapping, FILE a file of text, /sys a place where nobody may write.
MISTAKES = {
    # the command itself
    "": "say what to do; the verbs are list, snapshot",
    "dance": "there is no verb 'dance'; the verbs are list",
    "trian avm": "there is no verb 'trian' (did you mean train?)",
    "Train avm": "there is no verb 'Train' (did you mean train?)",
    "evalute RUN": "there is no verb 'evalute' (did you mean evaluate?)",
    "--json list": "there is no verb '--json'",
    # list
    "list chess": "unknown task 'chess'; the tasks are arbitrary_visuomotor_mapping (avm)",
    "list avn": "unknown task 'avn' (did you mean avm?)",
    "list --jsn": "there is no option --jsn (did you mean --json?); memorylab list --help tells all",
    # snapshot
    "snapshot avm --out x.bmp": "--out must end in .png or .gif, not 'x.bmp'",
    "snapshot avm --size 0 9": "size must be (height, width)",
    "snapshot avm --size 9": "--size needs 2 values",
    "snapshot avm --size 9 wide": "--size must be 2 whole numbers, not '9 wide'",
    "snapshot avm cr --frames 1 --out x.gif": "an animation shows one task, not 2",
    "snapshot avm --frames 0": "--frames must be 1 or more, not 0",
    "snapshot avm --every 0": "--every must be 1 or more, not 0",
    "snapshot avm --zoom -1": "--zoom must be 1 or more, not -1",
    "snapshot avm --level extrapolat": "unknown level 'extrapolat' (did you mean extrapolate?)",
    "snapshot avm --player remebering": "remembering, not 'remebering' (did you mean remembering?)",
    "snapshot avm --out /sys/x.png": "cannot write in the folder /sys: Permission denied",
    # baseline
    "baseline chess": "unknown task 'chess'",
    "baseline contnuous_recognition": "(did you mean continuous_recognition?)",
    "baseline avm --levels hard": "unknown level 'hard'; the levels are train, train_small",
    "baseline avm --levels trian": "unknown level 'trian' (did you mean train?)",
    "baseline avm --players nobody": "--players must be one of random, forgetting, remembering, not 'nobody'",
    "baseline avm --player random": "there is no option --player (did you mean --players?)",
    "baseline avm --episodes 0": "--episodes must be 1 or more, not 0",
    "baseline avm --episodes many": "--episodes must be a whole number, not 'many'",
    "baseline avm --episodes 1.5": "--episodes must be a whole number, not '1.5'",
    "baseline avm --episodes=": "--episodes must be a whole number, not ''",
    "baseline avm --episodes": "--episodes needs a value",
    "baseline avm --seed -1": "a seed must be a whole number from 0",
    "baseline avm --out scores.xls": "--out must end in .csv or .json, not 'scores.xls'",
    "baseline avm --out /sys/scores.csv": "cannot write in the folder /sys: Permission denied",
    "baseline avm --out FILE/scores.csv": "FILE: Not a directory",
    "baseline avm --json --csv": "--json and --csv are two forms of the same rows; give one of them",
    # bench
    "bench avm --num-envs 0": "num_envs must be a whole number",
    "bench avm --seconds 0": "--seconds must be more than 0, not 0",
    "bench avm --seconds nan": "--seconds must be more than 0, not nan",
    "bench avm --seconds long": "--seconds must be a number, not 'long'",
    "bench avm --secnods 1": "there is no option --secnods (did you mean --seconds?)",
    "bench avm --threads 0": "threads must be a whole number",
    "bench avm --threads many": "--threads must be a whole number, not 'many'",
    "bench avm --level easy": "unknown level 'easy'",
    "bench avm --csv --json": "give one of them",
    # presets
    "presets --preset none": "unknown preset 'none'; the presets are paper, laptop",
    "presets --preset paer": "unknown preset 'paer' (did you mean paper?)",
    "presets chess": "unknown task 'chess'",
    "presets avm --model gpt": "unknown model 'gpt'; the models are ff, ff+mem",
    "presets avm --json --csv": "give one of them",
    # train
    "train": "name the task first, such as: memorylab train avm",
    "train --model lstm": "name the task first",
    "train --model lstm avm": "name the task first",
    "train ''": "name the task first",
    "train chess": "unknown task 'chess'",
    "train avn": "unknown task 'avn' (did you mean avm?)",
    "train avm cr": "it is not clear what 'cr' is for; memorylab train TASK --help tells all",
    "train avm --task cr": "name the task once: a run is of one task",
    "train avm --model": "--model needs a value",
    "train avm --model lsmt": "unknown model 'lsmt' (did you mean lstm?)",
    "train avm --preset lapto": "unknown preset 'lapto' (did you mean laptop?)",
    "train avm --nosuch 3": "there is no option --nosuch; memorylab train",
    "train avm --learning-rat 1": "there is no option --learning-rat (did you mean --learning-rate?)",
    "train avm --learning-rate fast": "--learning-rate must be a number, not 'fast'",
    "train avm --learning-rate -1": "learning_rate must be above 0, not -1",
    "train avm --num-envs -3": "num_envs must be at least 1, not -3",
    "train avm --num-envs many": "--num-envs must be a whole number, not 'many'",
    "train avm --steps 0": "steps must be at least 1, not 0",
    "train avm --minutes -1": "--minutes must be more than 0, not -1",
    "train avm --minutes soon": "--minutes must be a number, not 'soon'",
    "train avm --track wandbb": "--track must be one of",
    "train avm --threads 0": "--threads must be 1 or more, not 0",
    "train avm --hidden-size 0": "hidden_size must be at least 1, not 0",
    "train avm --height 3": "encoder needs pictures of at least",
    "train avm --discount 1.5": "discount must be at least 0 and below 1, not 1.5",
    "train avm --optimiser sgd": "--optimiser must be one of adam, rmsprop, not 'sgd'",
    "train avm --cpc-steps 99": "cpc_steps must be at most the unroll",
    "train avm --seed -1": "seed must be at least 0, not -1",
    "train avm --seed 99999999999999999999": "seed must be below 2**52, not 99999999999999999999",
    "train avm --device nosuch": "the device 'nosuch' cannot be used",
    "train avm --controller lsm": "controller must be one of ff, lstm",
    "train avm --memory episodc": "not 'episodc' (did you mean episodic?)",
    "train avm --auxiliary cp": "not 'cp' (did you mean cpc?)",
    "train avm --encoder smal": "not 'smal' (did you mean small?)",
    "train avm --settings window": "--settings must be a word and a number, not 'window'",
    "train avm --settings window 3": "settings must be of a part that has some, not 'window'",
    "train avm --teacher skils": "unknown teacher 'skils' (did you mean skills?)",
    "train avm --evaluation-levels trian": "unknown level 'trian' (did you mean train?)",
    "train avm --evaluation-levels train hard": "unknown level 'hard'",
    "train avm --evaluation-levels": "--evaluation-levels needs one level or more; --evaluate-every 0 plays no",
    "train avm --stimuli nowhere": "nowhere",
    "train avm --scale trails=3": "has no keyword 'trails' (did you mean trials?); its scale keywords are trials",
    "train avm --scale trials=many": "--scale must look like trials=8",
    "train avm --stages trails=3": "has no keyword 'trails'",
    "train avm --stages trials=0": "trials",
    "train avm --runtime ry": "--runtime must be one of in-process, ray, not 'ry' (did you mean ray?)",
    "train avm --actors 4": "need --runtime ray",
    "train avm --out FILE/run": "FILE: Not a directory",
    "train avm --out /sys/run": "cannot write in the folder /sys: Permission denied",
    "train avm --out RUN": "holds a run of another configuration: agent.",
    # ablate
    "ablate": "name the tasks, such as",
    "ablate avm": "say how long each run shall be: --steps or --minutes",
    "ablate avm --steps many": "--steps must be a whole number, not 'many'",
    "ablate avm --steps 9 --seeds 0": "--seeds must be 1 or more, not 0",
    "ablate avm --steps 9 --models lsmt": "unknown model 'lsmt' (did you mean lstm?)",
    "ablate avm --steps 9 --nosuch 3": "there is no option --nosuch",
    "ablate avm --minutes 0": "--minutes must be more than 0, not 0",
    "ablate chess --steps 9": "unknown task 'chess'",
    "ablate avm --steps 9 --out /sys/runs": "cannot write in the folder /sys: Permission denied",
    # evaluate
    "evaluate": "RUN is missing; memorylab evaluate --help tells all",
    "evaluate nowhere": "nowhere is not the folder of a run: it has no config.json",
    "evaluate RUN --episodes 0": "--episodes must be 1 or more, not 0",
    "evaluate RUN --levels holdout": "unknown level 'holdout' (did you mean holdout_",
    "evaluate RUN --sweep trails=3": "has no keyword 'trails' (did you mean trials?)",
    "evaluate RUN --sweep trials=few": "--sweep must look like trials=1,2,4",
    "evaluate RUN --step soon": "--step must be snapshot, last or the number of a step, not 'soon'",
    "evaluate RUN --step 7": "has no weights of step 7; it has 1234",
    "evaluate RUN --routes 3": "--routes is for navigation tasks and needs --save",
    "evaluate RUN --device nosuch": "the device 'nosuch' cannot be used",
    "evaluate RUN --json --csv": "give one of them",
    # curve and report
    "curve": "name the folder of a run",
    "curve nowhere": "nowhere is not the folder of a run",
    "curve RUN --out x.gif": "--out must end in .png, .svg or .pdf, not 'x.gif'",
    "report": "name the folders of the runs to report",
    "report RUN --humans FILE": "FILE holds no scores of people: it needs rows of task, level, mean, standard_error",
    "report RUN --humans nowhere.csv": "nowhere.csv cannot be used: No such file or directory",
    "report RUN --reference mine": "the references are paper or players, not 'mine'",
    "report RUN --reference players --humans FILE": "--humans take the place of the paper's",
    "report RUN --routes few": "--routes must be a whole number, not 'few'",
    "report RUN --out /sys/report": "cannot write in the folder /sys: Permission denied",
    # the zoo, and what a run leaves behind
    "zoo avm/mrb": "unknown trained agent 'avm/mrb' (did you mean avm/mra?); the trained agents are avm/",
    "zoo --folder nowhere": "there is no trained agent in nowhere yet; memorylab zoo-add RUN puts one there",
    "zoo avm/mra --folder nowhere": "there is no trained agent in nowhere yet",
    "zoo-add": "RUN is missing",
    "zoo-add nowhere --folder zoo": "nowhere is not the folder of a run",
    "zoo-add RUN --episodes 0": "--episodes must be 1 or more, not 0",
    "zoo-add RUN --step soon --folder zoo": "--step must be snapshot, last or the number of a step",
    "zoo-add RUN --folder /sys/zoo": "cannot write in the folder /sys: Permission denied",
    "evaluate zoo:avn/mra": "unknown trained agent 'zoo:avn/mra' (did you mean avm/mra?)",
    "evaluate zoo:avm/mra --save": "--save is for a run of your own: the zoo stays as it is",
    "evaluate zoo:avm/mra --step last": "has the weights of its snapshot and no others; leave --step last out",
    "curve zoo:mra": "unknown trained agent 'zoo:mra'",
    "watch zoo:avm": "unknown trained agent 'zoo:avm'",
    "slim nowhere": "nowhere is not the folder of a run",
    "slim RUN --out RUN": "RUN is there already; give another --out",
    # pages
    "play --scale trials=3": "--stimuli and --scale need --task",
    "play --task chess": "unknown task 'chess'",
    "play --task avm --scale trails=3": "has no keyword 'trails' (did you mean trials?)",
    "play --port 70000": "--port must be from 0 (any free one) to 65535, not 70000",
    "play --host 203.0.113.9": "Cannot assign requested address; give another --host",
    "play --port http": "--port must be a whole number, not 'http'",
    "play --scores FILE": "FILE is not a file of human scores",
    "play --scores /sys/scores.db": "cannot write in the folder /sys: Permission denied",
    "human-scores nowhere.db": "there are no human scores in nowhere.db",
    "human-scores FILE": "FILE is not a file of human scores",
    "human-scores nowhere.db --out x.txt": "--out must end in .csv or .json, not 'x.txt'",
    "human-scores nowhere.db --json --csv": "give one of them",
    "watch": "name one to watch: the folder of a run, or --player, or --episode; or a trained agent: zoo:avm/",
    "watch nowhere": "nowhere is not the folder of a run",
    "watch RUN --task cr": "--task is for a --player: a run and a person's episode have their own",
    "watch --episode 1 --task avm": "--task is for a --player",
    "watch RUN --player random --task avm": "name one to watch",
    "watch --player random": "--player needs --task",
    "watch --player nobody --task avm": "--player must be one of forgetting, random, remembering, not 'nobody'",
    "watch --player random --task avn": "unknown task 'avn' (did you mean avm?)",
    "watch --player random --task avm --level hard": "unknown level 'hard'",
    "watch --episode first": "--episode must be a whole number, not 'first'",
    "watch RUN --export x.gif": "--export must end in .html, not 'x.gif'",
    "watch RUN --step soon": "--step must be snapshot, last or the number of a step",
    "watch RUN --port 70000": "--port must be from 0",
    "dashboard nowhere": "nowhere is not a folder",
    "dashboard --prot 8000": "there is no option --prot (did you mean --port?)",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with an untrained run and a file of notes."""
    folder = tmp_path_factory.mktemp("place")
    config = replace(preset_config("avm"), agent=SMALL)
    weights = {f"agent.{name}": part for name, part in MemoryRecallAgent(SMALL).state_dict().items()}
    save_checkpoint(folder / "RUN" / "checkpoints", 1234, weights, {})
    (folder / "RUN" / "config.json").write_text(json.dumps(asdict(config)))
    (folder / "FILE").write_text("Notes of a morning.\nPeople liked it, and scored well.\n")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if "/sys" not in each or Path("/sys").exists()])
def test_a_mistake_is_one_sentence_and_exit_code_2(mistake, place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    before = files(place)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(mistake))
    out, error = capsys.readouterr()
    said = [line for line in error.splitlines() if "newest weights play" not in line]  # which weights, besides
    assert ended.value.code == 2
    assert len(said) == 1
    assert said[0].startswith("memorylab: ")
    assert MISTAKES[mistake] in said[0]
    assert not [leak for leak in LEAKS if leak in said[0]]
    assert out == ""
    assert files(place) == before, "nothing is written"


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 95
