"""Reads TensorBoard's event files with Python's standard library alone, and checks them strictly:
both checksums of every record, every field of the messages. Written from the formats' descriptions
(TFRecord; tensorflow/core/util/event.proto, framework/summary.proto), not from our writer.

    for event in read("events.out.tfevents.1.vit.000"):
        event.time, event.step, event.version, event.started, event.scalars, event.images

How our files do in TensorBoard itself, with and without its fast loader, and in tbparse is checked
by scripts/check-tensorboard.
"""
import struct
import types

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data, whole):
    at = 0
    while at < len(data):
        if len(data) - at < 12 or len(data) - at < 16 + struct.unpack_from("<Q", data, at)[0]:
            assert not whole, "the last record is cut off"
            return
        size, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked_crc(data[at:at + 8]), "checksum of a length"
        body = data[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked_crc(body), "checksum"
        yield body
        at += 16 + size


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message: bytes, whole numbers, or the raw bytes of a fixed one."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}[kind] if kind != 2 else varint(data, at)
            assert at + size <= len(data), "a field beyond its message"
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def image(data):
    height, width, channels, png = (dict(fields(data))[n] for n in (1, 2, 3, 4))
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (width, height)
    assert {0: 1, 2: 3, 6: 4}[png[25]] == channels
    return width, height, channels


def value(data, event):
    found = dict(fields(data))
    assert set(found) in ({1, 2}, {1, 4}), found.keys()
    tag = found[1].decode()
    if 2 in found:
        event.scalars[tag] = struct.unpack("<f", found[2])[0]
    else:
        event.images[tag] = image(found[4])


def read(path, whole=True):
    """The events of a file; whole=False: its last record may be cut off."""
    with open(path, "rb") as file:
        data = file.read()
    events = []
    for body in records(data, whole):
        event = types.SimpleNamespace(time=None, step=0, version=None, started=False, scalars={},
                                      images={})
        for number, content in fields(body):
            if number == 1:
                event.time = struct.unpack("<d", content)[0]
            elif number == 2:
                event.step = content
            elif number == 3:
                event.version = content.decode()
            elif number == 5:
                for _, part in fields(content):
                    value(part, event)
            elif number == 7:
                assert dict(fields(content)) == {1: 1}
                event.started = True
            else:
                raise AssertionError(f"field {number}")
        events.append(event)
    assert events[0].version == "brain.Event:2" and not any(e.version for e in events[1:])
    return events


def scalars(paths):
    """{tag: {step: value}} of files in their order; a start drops what is from its step on."""
    found = {}
    for path in paths:
        for event in read(path, whole=False):
            if event.started:
                found = {tag: {s: v for s, v in values.items() if s < event.step}
                         for tag, values in found.items()}
            for tag, x in event.scalars.items():
                found.setdefault(tag, {})[event.step] = x
    return found
