"""Rules are passed as a record: what is missing or not compiled is said in one sentence."""

import pytest

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.psychlab.trial import TrialRules, trial_task
from memorylab.tasks.rooms import spot_diff_basic as basic
from memorylab.tasks.task import find_task

PARTS = {"name": "mine", "scales": basic.SCALES, "report": {}}


def test_a_missing_rule_is_one_sentence():
    rules = WalkedRules(begin_episode=basic.begin_episode, remember=basic.remember, forget=basic.forget)
    with pytest.raises(ValueError, match="the task mine has no rule 'play'; a walked task needs begin_episode, play, "):
        walked_task(rules=rules, **PARTS)
    with pytest.raises(ValueError, match="the task mine has no rule 'buttons'; a task of trials needs buttons, "):
        trial_task(name="mine", rules=TrialRules(), scales=find_task("cr").scales, instructions=())


def test_a_misspelt_rule_is_one_sentence():
    with pytest.raises(TypeError, match="unexpected keyword argument 'plya'"):
        WalkedRules(plya=basic.spot)


def test_a_rule_that_is_not_compiled_is_one_sentence():
    rules = WalkedRules(basic.begin_episode, basic.spot.py_func, basic.remember, basic.forget)
    with pytest.raises(ValueError, match="the rule 'play' of the task mine is not compiled: write @jit above it"):
        walked_task(rules=rules, **PARTS)
