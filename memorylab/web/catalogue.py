"""What the page on which people play shows before the first game: the tasks, and a picture of each."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import Task, find_task, task_names
from memorylab.web.cards import draw_card
from memorylab.web.game import actions_of
from memorylab.web.pages import CARDS, fixed_route


def catalogue() -> list[dict[str, Any]]:
    """What the page shows of each task."""
    return [described(find_task(name)) for name in task_names()]


def described(task: Task) -> dict[str, Any]:
    """A task as the page shows it."""
    levels = [
        {"name": name, "stimuli": level.stimuli, "scale": " or ".join(scale.text() for scale in task.scales_of(name))}
        for name, level in LEVELS.items()
    ]
    return {
        "name": task.name,
        "short": task.short,
        "title": task.title,
        "rule": task.rule,
        "instructions": task.instructions,
        "actions": actions_of(task),
        "levels": levels,
    }


async def send_catalogue(request: Request) -> Response:
    """All tasks and levels."""
    return JSONResponse(await asyncio.to_thread(catalogue))


def card_route(task: str) -> Route:
    """The packaged picture; where there is none, as for a user's own task, it is drawn when somebody asks."""
    packaged = CARDS / f"{task}.png"
    if packaged.exists():
        return fixed_route(f"/picture/{task}", packaged)

    async def answer(request: Request) -> Response:
        return Response(await asyncio.to_thread(draw_card, task), media_type="image/png")

    return Route(f"/picture/{task}", answer)
