"""The source of the core for tests, which is not there where the core is compiled."""

from __future__ import annotations

import pytest

from referee import core

PURE = "REFEREE_TESTS_PURE"
"""In the environment of tests that run with the compiled core: the folder of the same project without it."""

needs_source = pytest.mark.skipif(core.is_compiled(), reason="it changes the core's Python, and this core is compiled")
