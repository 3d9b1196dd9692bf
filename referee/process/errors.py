"""What a worker says of a request that it does not answer: the same error on both sides of the pipe."""

from __future__ import annotations

import json
from typing import Any


class BadQuestion(ValueError):
    """The request cannot be answered as it is: what is wrong with it, in one line.

    ``fields``: the same for programs, as JSON has it.
    """

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def packed(self) -> bytes:
        """Return the bytes of a reply."""
        return json.dumps([self.message, self.fields]).encode()

    @classmethod
    def unpacked(cls, data: bytes) -> BadQuestion:
        """Return the error of a reply."""
        message, fields = json.loads(data)
        return cls(message, **fields)
