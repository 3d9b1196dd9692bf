"""What ends a bulk run before its time: each message is one line for the person who started it."""

from __future__ import annotations


class BulkError(Exception):
    """The run cannot go on; what the sink was given stands."""


class BadOption(BulkError):
    """What was asked for makes no run; nothing was done."""


class ResultsError(BulkError):
    """A file of results is not usable; the message names it and says what was expected."""


class PlaceLost(BulkError):
    """The executor has ended, or does not answer."""


class OtherVersion(BulkError):
    """A machine of the cluster has another version of this program."""


class TooManyLost(BulkError):
    """It is the machine, not the tasks."""

    def __init__(self, lost: int, most: int, last: str) -> None:
        super().__init__(f"{lost} tasks were lost, and at most {most} may be; the last one: {last}")
        self.lost = lost
        self.most = most
        self.last = last
