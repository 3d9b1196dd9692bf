"""The process of node that the tests of the verifier share: it reports an error and continues."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.log.verifier import Node
from tests.log.verify_js import why_not


@pytest.fixture
def node() -> Iterator[Node]:
    if why := why_not():
        pytest.skip(why)
    own = Node()
    yield own
    own.close()


def test_what_a_job_fails_of_is_told_and_the_process_goes_on(node: Node) -> None:
    with pytest.raises(AssertionError, match="expected lower-case hexadecimal digits"):
        node.ask("keys", raws=[1], cases=[])
    assert node.ask("able")["ed25519"]


def test_one_that_died_is_told_and_replaced(node: Node) -> None:
    with pytest.raises(AssertionError, match="no such job: nothing"):
        node.ask("nothing")
    assert node.ask("able")["ed25519"]
