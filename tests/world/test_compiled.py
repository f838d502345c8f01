from memorylab.world import compiled as module
from memorylab.world.chance import mix


def test_a_cached_function_is_stamped_with_the_whole_package(tmp_path, monkeypatch):
    assert mix._cache._cache_file._source_stamp == module.source_stamp()
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    stamps = []
    for text in ("one = 1", "one = 2"):
        (tmp_path / "called.py").write_text(text)
        module.source_stamp.cache_clear()
        stamps.append(module.source_stamp())
    module.source_stamp.cache_clear()
    assert stamps[0] != stamps[1]
