#!/usr/bin/env python3
"""Joins two network namespaces by a link with a delay and a limit of speed, without netem.

usage: slow_link.py SPACE_A ADDRESS_A SPACE_B ADDRESS_B MILLISECONDS MBIT

Each namespace gets a device vit-link; this program carries the frames between the two until it is
ended. Linux, root. An address has its prefix: 10.77.0.1/24.
"""
import collections
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
FRAME = 65536


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def device(name, space, address):
    """The end of a cable: what is written to the descriptor arrives at the device in `space`."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    ip("link", "set", name, "mtu", "9000", "netns", space)  # fewer frames for this program
    ip("-n", space, "link", "set", name, "name", "vit-link")
    ip("-n", space, "addr", "add", address, "dev", "vit-link")
    ip("-n", space, "link", "set", "lo", "up")
    ip("-n", space, "link", "set", "vit-link", "up")
    return end


class Direction:
    """Frames on their way: each leaves when the line is free, and arrives a delay later."""

    def __init__(self, source, target, delay, bytes_per_second):
        self.source, self.target, self.delay, self.rate = source, target, delay, bytes_per_second
        self.on_the_way = collections.deque()
        self.free_at = 0.0

    def take(self, now):
        try:
            frame = os.read(self.source, FRAME)
        except BlockingIOError:
            return
        self.free_at = max(self.free_at, now) + len(frame) / self.rate
        self.on_the_way.append((self.free_at + self.delay, frame))

    def deliver(self, now):
        while self.on_the_way and self.on_the_way[0][0] <= now:
            try:
                os.write(self.target, self.on_the_way.popleft()[1])
            except OSError:
                pass  # the device is down: the frame is lost, as on a cable that is cut

    def next_time(self):
        return self.on_the_way[0][0] if self.on_the_way else float("inf")


def main(space_a, address_a, space_b, address_b, milliseconds, mbit):
    ends = device(f"vit-a{os.getpid()}", space_a, address_a), device(
        f"vit-b{os.getpid()}", space_b, address_b
    )
    delay, rate = float(milliseconds) / 1e3, float(mbit) * 1e6 / 8
    ways = [Direction(*ends, delay, rate), Direction(*reversed(ends), delay, rate)]
    print("joined", flush=True)
    while True:
        until = min(w.next_time() for w in ways) - time.monotonic()
        ready, _, _ = select.select(ends, [], [], min(1.0, max(0.0, until)))
        now = time.monotonic()
        for way in ways:
            if way.source in ready:
                way.take(now)
            way.deliver(now)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
