"""The list of planted faults stays true while code and tests move; ``make faults`` runs the tests that find them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.planted.fault import ROOT, Fault, packages
from tests.planted.faults import FAULTS

EVERY = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


def test_every_package_of_the_product_has_a_fault() -> None:
    assert packages() - {fault.package for fault in FAULTS} == set()
    assert {"referee/log", "referee/api", "referee/games/alhambra", "clients/js", "clients/referee_clients/web"} <= (
        packages()
    )


def test_no_two_faults_have_one_name() -> None:
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []


@EVERY
def test_the_text_that_is_replaced_stands_there_once(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    assert fault.new != fault.old


@EVERY
def test_the_tests_that_find_it_are_there(fault: Fault) -> None:
    assert fault.found_by
    for test in fault.found_by:
        file, _, name = test.partition("::")
        assert not file.startswith("tests/web"), "it may need a browser"
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:async )?def {name or 'test_'}", text, re.MULTILINE), test
