# SPDX-License-Identifier: Apache-2.0
"""A line to the web server as a telephone has it far from a mast: each byte comes late, and few come at once."""

import asyncio
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

from deadline import PATIENCE_SECONDS

CHUNK_BYTES = 1400
# Of each direction, so that an answer comes 400 ms after its request.
DELAY_SECONDS = 0.2
BYTES_PER_SECOND = 50 * 1024
# What may be under way in one direction of a connection; who sends more waits.
MAXIMUM_CHUNKS = 64


class SlowLine:
    """Carries all connections to a port of this host while the `with` block lasts, from a port that was free."""

    def __init__(self, port: int):
        self._to = port
        self._loop = asyncio.new_event_loop()
        self._end, self._is_ready = asyncio.Event(), Event()
        # When the line is free again, in each direction: all connections share it.
        self._free = {"up": 0.0, "down": 0.0}
        self._thread = Thread(target=self._run, name="slow line", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._is_ready.wait(PATIENCE_SECONDS):
            raise RuntimeError("The slow line did not start.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE_SECONDS)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port: int = server.sockets[0].getsockname()[1]
        self._is_ready.set()
        await self._end.wait()
        server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
            ends.append(back)
            await asyncio.gather(self._pump(reader, back, "up"), self._pump(there, writer, "down"))
        except (OSError, asyncio.CancelledError):
            # The line goes before the browser, which keeps its connections. Of a task that says that it was cancelled,
            # asyncio's streams would complain.
            for end in ends:
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str) -> None:
        """Until one end closes, and then the other one learns of it, as late as of the bytes before."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MAXIMUM_CHUNKS)
        delivery = asyncio.create_task(self._deliver(under_way, writer))
        chunk = b"."
        while chunk:
            chunk = b""
            with suppress(OSError):
                chunk = await reader.read(CHUNK_BYTES)
            self._free[way] = max(self._free[way], self._loop.time()) + len(chunk) / BYTES_PER_SECOND
            await under_way.put((self._free[way] + DELAY_SECONDS, chunk))
        await delivery

    async def _deliver(self, under_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
        chunk = b"."
        while chunk:
            due, chunk = await under_way.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            with suppress(OSError):
                writer.write(chunk)
                await writer.drain()
        writer.close()
