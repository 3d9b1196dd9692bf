"""Asking a web server that is slow, wordy, silent or none: one error, in time, and the next question works."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from referee.log.errors import Code, LogError
from referee.log.public.sources import Web

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Accept connections one after another, and answer the first request on each."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def run() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        if connection.recv(65536):
                            answer(connection)
                    except OSError:
                        pass  # the client has gone

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_one_connection_takes_many_questions() -> None:
    asked = 0

    def answer(connection: socket.socket) -> None:
        nonlocal asked
        asked += 1
        connection.sendall(OK)
        while connection.recv(65536):
            connection.sendall(OK)

    with server(answer) as url:
        web = Web(url)
        assert [web.read("x") for _ in range(3)] == [b"ok"] * 3
        web.close()
    assert asked == 1


def test_closed_before_a_question_in_another_thread_begins_no_connection_stays_open() -> None:
    with server(lambda connection: connection.sendall(OK)) as url:
        web = Web(url)
        web.close()
        assert web.read("x") == b"ok"
        assert web._connection.sock is None


@pytest.mark.parametrize(
    ("bytes_", "expected"),
    [
        (b"garbage\r\n\r\n", "no answer in HTTP"),
        (b"", "no answer in HTTP|reset|closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "cut|no answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n", "no answer in HTTP"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "status 500"),
        (b"HTTP/1.1 302 No\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n", "status 302"),
    ],
)
def test_what_is_no_answer_is_one_error(bytes_: bytes, expected: str) -> None:
    with server(lambda connection: connection.sendall(bytes_)) as url:
        web = Web(url)
        with pytest.raises(OSError, match=expected):
            web.read("x")
        web.close()


@pytest.mark.parametrize("length", [b"Content-Length: 10000000\r\n", b""], ids=["announced", "not announced"])
def test_a_large_answer_is_not_read_to_its_end(length: bytes) -> None:
    sent = 0

    def answer(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        for _ in range(100):
            connection.sendall(bytes(100_000))
            sent += 100_000

    with server(answer) as url:
        web = Web(url)
        with pytest.raises(LogError) as caught:
            web.read("x", 1000)
        assert caught.value.code is Code.LIMIT
        web.close()
    assert sent < 10_000_000


def test_a_server_that_drips_has_the_time_of_one_question_and_no_more() -> None:
    done = threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while not done.wait(0.01):
            connection.sendall(b"x")

    with server(answer) as url:
        web = Web(url, timeout_s=0.3)
        with pytest.raises(OSError, match=r"no whole answer within 0\.3 s|timed out"):
            web.read("x")
        done.set()
        web.close()


@pytest.mark.parametrize(
    ("first", "again"),
    [(b"HTTP/1.1 200 OK\r\nX: ", b"y"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n")],
    ids=["a header", "100 Continue"],
)
def test_a_server_that_never_gets_to_its_answer_has_no_more_time(first: bytes, again: bytes) -> None:
    is_done, was_cut = threading.Event(), threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.sendall(first)
        try:
            for _ in range(1000):
                if is_done.wait(0.01):
                    return
                connection.sendall(again)
        except OSError:
            was_cut.set()
            raise

    with server(answer) as url:
        web = Web(url, timeout_s=0.3)
        with pytest.raises(OSError, match=r"no whole answer within 0\.3 s|timed out"):
            web.read("x")
        assert was_cut.wait(30), "the server was cut, and did not come to its end"
        is_done.set()
        web.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "ftp://x/",
        "http://",
        "http://u:p@x/",
        "http://x/?q",
        "http://x/#f",
        "http://x /",
        "http://x/\n",
        "http://x:y/",
    ],
)
def test_what_is_no_address_of_a_log_is_refused(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
        Web(url)
