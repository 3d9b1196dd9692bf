"""Workers of a referee that stops are passed to the next one: to start one takes longer than most of its answers.

They are the processes that a referee starts by default, which answer one question after another. One that was killed,
that hangs, or that is at work when its referee stops, ends as ever, and the next question starts another.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from functools import partial
from typing import Any, ClassVar

from referee.process.pool import Workers


class WarmWorkers(Workers):
    """Workers that take over what others of the same kind have left."""

    _left: ClassVar[defaultdict[tuple[str, int, bool], list[Any]]] = defaultdict(list)

    @property
    def _kind(self) -> tuple[str, int, bool]:
        return self._module, self._memory_mib, self._at_home

    async def _start(self) -> Any:
        left = self._left[self._kind]
        while left:
            worker = left.pop()
            if worker.ended.done():
                continue
            self.started += 1
            self._all.add(worker)
            worker.ended.add_done_callback(partial(self._has_ended, worker))
            return worker
        return await super()._start()

    def _has_ended(self, worker: Any, _: object) -> None:
        self._forget(worker)

    async def stop(self) -> None:
        """Stop all but those without a question."""
        for worker in self._idle:
            if worker._is_ready and not worker.ended.done():
                # It is no task of the test that it was started in, which would be cancelled when that has ended.
                asyncio.tasks._unregister_task(worker.ended)
                self._all.discard(worker)
                self._left[self._kind].append(worker)
        await super().stop()

    @classmethod
    async def end(cls) -> None:
        """End those that are left."""
        workers = [worker for left in cls._left.values() for worker in left]
        cls._left.clear()
        for worker in workers:
            worker.kill()
        if workers:
            await asyncio.wait([worker.ended for worker in workers])
