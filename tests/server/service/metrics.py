"""Metrics, scraped over HTTP."""

from __future__ import annotations

import asyncio

from prometheus_client.parser import text_string_to_metric_families


class Samples(dict[tuple[str, frozenset[str]], float]):
    """Values by the name and the values of labels; an empty label is none."""

    def of(self, name: str, *labels: str) -> float:
        return self[name, frozenset(labels)]

    def sum(self, name: str) -> float:
        return sum(value for (found, _), value in self.items() if found == name)


async def http(address: str, request: bytes) -> tuple[str, bytes]:
    """Return the status line and the body."""
    reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
    writer.write(request)
    await writer.drain()
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return head.split(b"\r\n")[0].decode(), body


async def scrape(address: str) -> Samples:
    """Everything that there is, and every family documented."""
    status, body = await http(address, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
    assert status == "HTTP/1.1 200 OK"
    samples = Samples()
    for family in text_string_to_metric_families(body.decode()):
        assert family.documentation
        assert family.type in {"counter", "gauge", "histogram"}, family
        for sample in family.samples:
            key = (sample.name, frozenset(filter(None, sample.labels.values())))
            assert key not in samples
            samples[key] = sample.value
    return samples
