"""The public log: what a leaf costs with everything but the disk, and what checking a proof does, in microseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.log.note import TlogProof, TreeHead
from referee.log.public.checkpoint import LogPolicy, check_head_logged, prove_head
from referee.log.public.tiles import Edge, TileTree
from tests.bench.measure import RUNS, Figure, rate
from tests.log.public.checkpoint import MlDsaWitness
from tests.log.public.logs import LOG, Memory, cosigned, head, leaves, policy_text

LEAVES, BATCH = 70_000, 355
_CHECKS = 200


def figures(count: int = LEAVES, runs: int = RUNS) -> Iterator[Figure]:
    """Measure a log of ``count`` leaves."""
    every = leaves(count)

    def grow() -> int:
        edge = Edge()
        for at in range(0, count, BATCH):
            edge.append(every[at : at + BATCH])
            edge.root()
        return count

    yield Figure("a leaf: bundles, tiles and the root of each batch", 1e6 / rate(grow, runs), at_most=20)
    files, edge = Memory(), Edge()
    files.take(edge.append(every))
    note = LOG.sign_head(TreeHead(LOG.verifier.name, count, edge.root()))
    tree = TileTree(files, count)
    ed25519 = prove_head(tree, count // 3, cosigned(note, "w1", "w2", "w3")).encode()
    yield Figure("a proof with three Ed25519 witnesses: bytes", len(ed25519), at_most=4096)
    policy = LogPolicy.parse(policy_text("all").encode())
    yield Figure("checking it", 1e6 / rate(_checks(ed25519, policy, count // 3), runs), at_most=1000)
    one, two = MlDsaWitness("pq1"), MlDsaWitness("pq2")
    text = f"log {LOG.verifier}\nwitness a {one.vkey}\nwitness b {two.vkey}\ngroup both all a b\nquorum both\n"
    ml_dsa = prove_head(tree, count // 3, two.cosign(one.cosign(note))).encode()
    checks = _checks(ml_dsa, LogPolicy.parse(text.encode()), count // 3)
    yield Figure("checking one with two ML-DSA witnesses", 1e6 / rate(checks, runs), at_most=2000)


def _checks(proof: bytes, policy: LogPolicy, index: int) -> Callable[[], int]:
    def check() -> int:
        for _ in range(_CHECKS):
            assert check_head_logged(TlogProof.parse(proof), head(index), policy).witnessed.has_quorum
        return _CHECKS

    return check
