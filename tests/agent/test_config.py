from dataclasses import replace

import pytest

from memorylab.agent import MODELS, AgentConfig, MemoryRecallAgent, model_config

PARTS = {  # the paper's tables: working memory, episodic memory, auxiliary loss
    "FF": ("ff", "none", ()),
    "FF + MEM": ("ff", "episodic", ()),
    "FF + MEM + CPC": ("ff", "episodic", ("cpc",)),
    "FF + MEM + REC": ("ff", "episodic", ("rec",)),
    "LSTM": ("lstm", "none", ()),
    "LSTM + CPC": ("lstm", "none", ("cpc",)),
    "LSTM + MEM": ("lstm", "episodic", ()),
    "LSTM + MEM + REC": ("lstm", "episodic", ("rec",)),
    "LSTM + MEM + CPC": ("lstm", "episodic", ("cpc",)),
    "MRA": ("lstm", "episodic", ("cpc",)),
}


@pytest.mark.parametrize(("name", "parts"), PARTS.items())
def test_models_have_the_parts_of_their_name(name, parts):
    config = model_config(name)
    assert (config.controller, config.memory, config.auxiliary) == parts
    assert config.jumpy


@pytest.mark.parametrize("name", ["mra-njb", "MRA-NJB", "LSTM+MEM+CPC-NJB", "lstm + mem + cpc - njb"])
def test_the_model_without_jumpy_backpropagation_differs_in_that_only(name):
    assert model_config(name) == replace(model_config("mra"), jumpy=False)


def test_a_model_takes_everything_else_from_its_base():
    base = AgentConfig(encoder="small", hidden_size=32, actions=7, jumpy=False)
    assert model_config("ff", base) == replace(base, controller="ff", memory="none", auxiliary=(), jumpy=True)


def test_an_unknown_model_lists_the_ten():
    assert len(MODELS) == 10
    told = r"unknown model 'lstm\+mom' \(did you mean lstm\+mem\?\); the models are "
    with pytest.raises(ValueError, match=told) as error:
        model_config("lstm+mom")
    assert str(error.value).split(" are ")[1].split(", ") == list(MODELS)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"controller": "rnn"}, "controller must be one of ff, lstm, gru, lru, transformer, not 'rnn'"),
        ({"encoder": "big"}, "encoder must be one of residual, small, normalised, not 'big'"),
        ({"auxiliary": ("cpc", "both")}, "auxiliary must be one of cpc, rec, recollection, not 'both'"),
        (
            {"memory": "vast"},
            "memory must be one of none, episodic, familiarity, comparison, palette, motion, homing, chart, "
            "survey, trail, worth, not 'vast'",
        ),
        ({"settings": {"lstm.window": 3}}, "settings must be of a part that has some, not 'lstm.window'"),
        (
            {"controller": "transformer", "settings": {"transformer.size": 3}},
            "settings must be of transformer.window, transformer.heads, not 'transformer.size'",
        ),
        ({"hidden_size": 0}, "hidden_size must be at least 1, not 0"),
        ({"capacity": 0}, "capacity must be at least 1, not 0"),
        ({"neighbours": -1}, "neighbours must be at least 1, not -1"),
        ({"cpc_steps": 0}, "cpc_steps must be at least 1, not 0"),
        ({"height": 0}, "height must be at least 1, not 0"),
        (
            {"encoder": "small", "height": 72, "width": 19},
            "the small encoder needs pictures of at least 20 x 20 pixels, not 72 x 19",
        ),
        ({"epsilon": 0.0}, "epsilon must be above 0, not 0.0"),
        ({"epsilon": float("nan")}, "epsilon must be above 0, not nan"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_what_is_wrong_and_what_is_right(wrong, sentence):
    with pytest.raises(ValueError, match=r"must be|needs") as error:
        AgentConfig(**wrong)
    assert str(error.value) == sentence


@pytest.mark.parametrize("name", MODELS)
def test_an_agent_has_the_modules_of_its_model_and_no_others(name):
    config = model_config(name, AgentConfig(encoder="small", height=20, width=20))
    modules = {name for name, _ in MemoryRecallAgent(config).named_children()}
    optional = {"read": config.memory == "episodic", "contrastive": "cpc" in config.auxiliary}
    optional["reconstruction"] = "rec" in config.auxiliary
    expected = {"encoder", "controller", "policy", "baseline"} | {
        part for part, is_there in optional.items() if is_there
    }
    assert modules == expected


def test_the_defaults_are_the_paper_s():
    config = AgentConfig()
    assert model_config("mra") == config
    assert (config.height, config.width, config.embedding_size, config.hidden_size) == (72, 96, 256, 512)
    assert (config.capacity, config.neighbours, config.key_size, config.cpc_steps) == (1024, 10, 128, 10)
