"""What the page on which people play shows before the first game: the tasks, and a picture of each."""

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memorylab.envs.spec import GameSpec, scale_texts
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import Task, find_task, task_names
from memorylab.web.cards import draw_card
from memorylab.web.game import actions_of
from memorylab.web.level_names import level_title
from memorylab.web.pages import CARDS, fixed_route

SERIES = 10  # episodes in a row, where one is a single choice


def every_task() -> list[GameSpec]:
    """As the paper has them."""
    return [GameSpec(name) for name in task_names()]


def described(game: GameSpec) -> dict[str, Any]:
    """A task as the page shows it; another game than the paper's says so in its title."""
    task = find_task(game.task)
    scales = {name: task.scales_of(name, **game.scale) for name in LEVELS}
    levels = [
        {"name": name, "title": level_title(task.name, name), "scale": " or ".join(s.text() for s in scales[name])}
        for name in LEVELS
    ]
    own = [*scale_texts(game.scale), *(["own stimuli"] if game.stimuli else [])]  # the folder is nobody's business
    return {
        "name": task.name,
        "short": task.short,
        "title": f"{task.title} ({', '.join(own)})" if own else task.title,
        "rule": task.rule,
        "instructions": task.instructions,
        "actions": actions_of(task),
        "levels": levels,
        "series": SERIES if is_one_choice(task) else 1,
    }


def is_one_choice(task: Task) -> bool:
    """Whether an episode is a single choice, so that one says little of who played."""
    return "right_choice" in task.report and task.counter is None


def catalogue_route(games: Sequence[GameSpec]) -> Route:
    """All tasks and levels that are offered."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(lambda: [described(game) for game in games]))

    return Route("/tasks", answer)


def card_route(task: str) -> Route:
    """The packaged picture; where there is none, as for a user's own task, it is drawn when somebody asks."""
    packaged = CARDS / f"{task}.png"
    if packaged.exists():
        return fixed_route(f"/picture/{task}", packaged)

    async def answer(request: Request) -> Response:
        return Response(await asyncio.to_thread(draw_card, task), media_type="image/png")

    return Route(f"/picture/{task}", answer)
