from memorylab.world import compiled as module
from memorylab.world.chance import mix


def test_a_cached_function_is_stamped_with_all_compiled_code(tmp_path, monkeypatch):
    assert mix._cache._cache_file._source_stamp == module.source_stamp()
    monkeypatch.setattr(module, "PACKAGE", tmp_path)

    def stamp_after(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        module.source_stamp.cache_clear()
        return module.source_stamp()

    stamps = [stamp_after(f"{part}/deep/called.py", text) for part in ("world", "tasks") for text in ("a = 1", "a = 2")]
    assert len(set(stamps)) == 4
    assert stamp_after("agent/learner.py", "a = 1") == stamps[-1]  # an edit there must not recompile the games
    module.source_stamp.cache_clear()


def test_compiled_code_stands_where_the_stamp_looks():
    for path in module.PACKAGE.rglob("*.py"):
        if path.relative_to(module.PACKAGE).parts[0] not in module.COMPILED_PARTS:
            assert "@compiled" not in path.read_text(), path
