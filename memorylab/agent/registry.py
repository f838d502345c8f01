"""A registry: the classes that a part of the agent can be, by name; anybody may add one."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from memorylab.extensions import load_extensions, note_addition
from memorylab.mistakes import near_miss

Part = TypeVar("Part")


class Registry(dict[str, type[Part]], Generic[Part]):
    """`REGISTRY["mine"] = Mine`, before an agent is made, is all it takes to add a class.

    Files and packages that do so (see `memorylab.extensions`) are imported when a name is asked for that is not known
    yet, in whichever process that happens.
    """

    def __init__(self, kind: str, known: Mapping[str, type[Part]], besides: tuple[str, ...] = ()):
        super().__init__(known)
        self.kind, self.besides = kind, besides

    def __setitem__(self, name: str, part: type[Part]) -> None:
        super().__setitem__(name, part)
        note_addition(name)

    def find(self, name: str) -> type[Part]:
        """The class of that name, or one sentence with the names there are."""
        if name not in self:
            load_extensions()
        if name not in self:
            known = (*self.besides, *self)
            raise ValueError(f"{self.kind} must be one of {', '.join(known)}, not {name!r}{near_miss(name, known)}")
        return self[name]

    def settings(self, name: str) -> dict[str, Any]:
        """The settings of a part and their defaults: the keyword-only arguments of its class."""
        parameters = inspect.signature(self.find(name)).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def maker(self, name: str, settings: Mapping[str, float]) -> Callable[..., Part]:
        """The class with what `settings` say of it (`name.setting`); each has the type of its default."""
        given = {s: settings.get(f"{name}.{s}", default) for s, default in self.settings(name).items()}
        typed = {s: type(default)(given[s]) for s, default in self.settings(name).items()}
        return partial(self.find(name), **typed)
