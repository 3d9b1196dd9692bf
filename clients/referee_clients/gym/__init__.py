"""Environments for learning: each game for PettingZoo, and for Gymnasium with chosen opponents (docs/gym.md).

Needs the extra ``gym``: ``pip install 'tile-referee[gym]'``.
"""

from __future__ import annotations

from referee_clients.gym.environments import IllegalAction, RawEnv, SoloEnv, aec_env, parallel_env, solo_env

__all__ = ["IllegalAction", "RawEnv", "SoloEnv", "aec_env", "parallel_env", "solo_env"]
