"""Writes the seeds of the ELF fuzz targets, byte by byte.

    python3 tools/make_elf_seeds.py build/dev/seeds/elf

No compiler is involved: sound.bin is a complete small library, put together
here, and the others are that one with a single thing wrong.
"""

import pathlib
import struct
import sys

LOAD, DYNAMIC, NOTE, TLS = 1, 2, 4, 7
GNU_STACK = 0x6474E551
R, W, X = 4, 2, 1
PAGE = 0x1000

NEEDED, PLTRELSZ, PLTGOT, HASH, STRTAB, SYMTAB = 1, 2, 3, 4, 5, 6
RELA, RELASZ, RELAENT, STRSZ, SYMENT, SONAME = 7, 8, 9, 10, 11, 14
PLTREL, JMPREL, INIT_ARRAY, INIT_ARRAYSZ = 20, 23, 25, 27
GNU_HASH, VERSYM, RELACOUNT = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFF9
FLAGS_1, VERNEED, VERNEEDNUM = 0x6FFFFFFB, 0x6FFFFFFE, 0x6FFFFFFF

FUNC, OBJECT, TLS_SYMBOL, NOTYPE = 2, 1, 6, 0
GLOBAL, WEAK, UNIQUE = 1, 2, 10
HEADERS = 6


class Strings:
    def __init__(self):
        self.bytes = b"\0"

    def add(self, text):
        offset = len(self.bytes)
        self.bytes += text.encode() + b"\0"
        return offset


def gnu_hash(name):
    value = 5381
    for char in name.encode():
        value = (value * 33 + char) & 0xFFFFFFFF
    return value


def sysv_hash(name):
    value = 0
    for char in name.encode():
        value = (value << 4) + char
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


class Segment:
    """Blocks one after the other, each aligned to 8 bytes."""

    def __init__(self, offset, shift):
        self.offset, self.shift, self.bytes = offset, shift, b""

    def add(self, block):
        self.bytes += b"\0" * (-len(self.bytes) % 8)
        address = self.offset + len(self.bytes) + self.shift
        self.bytes += block
        return address

    def end(self):
        self.bytes += b"\0" * (-len(self.bytes) % 8)
        return self.offset + len(self.bytes)


def header(kind, flags, offset, address, size, align):
    return struct.pack(
        "<IIQQQQQQ", kind, flags, offset, address, address, size, size, align
    )


def symbol_table(strings, function, value):
    """The symbols, how many of them are imports, and the table of all."""
    # name, type, binding, section, value, size, version index
    symbols = [
        ("", NOTYPE, 0, 0, 0, 0, 0),
        ("aoti_torch_cpu_topk", FUNC, GLOBAL, 0, 0, 0, 1),
        ("getenv", FUNC, GLOBAL, 0, 0, 0, 2),
        ("__cxa_thread_atexit", FUNC, WEAK, 0, 0, 0, 1),
        ("Sleef_expf8_u10", FUNC, GLOBAL, 0, 0, 0, 1),
        ("AOTInductorModelContainerRun", FUNC, GLOBAL, 1, function, 3, 1),
        ("shared_counter", OBJECT, UNIQUE, 2, value, 4, 1),
        ("per_thread", TLS_SYMBOL, GLOBAL, 3, 0, 4, 1),
    ]
    first = 5  # Of those that are defined.
    table = b""
    for name, kind, binding, section, at, size, _ in symbols:
        offset = strings.add(name) if name else 0
        info = binding << 4 | kind
        table += struct.pack("<IBBHQQ", offset, info, 0, section, at, size)
    return symbols, first, table


def hash_tables(symbols, first):
    """DT_GNU_HASH of what is defined, and DT_HASH of everything."""
    defined = symbols[first:]
    chain = [gnu_hash(s[0]) & ~1 for s in defined]
    chain[-1] |= 1
    gnu = struct.pack("<IIIIQI", 1, first, 1, 6, 2**64 - 1, first)
    gnu += struct.pack(f"<{len(chain)}I", *chain)

    buckets, links = [0, 0], [0] * len(symbols)
    for i, symbol in enumerate(symbols[1:], 1):
        bucket = sysv_hash(symbol[0]) % 2
        links[i], buckets[bucket] = buckets[bucket], i
    sysv = struct.pack("<II", 2, len(symbols))
    sysv += struct.pack(f"<{2 + len(symbols)}I", *buckets, *links)
    return gnu, sysv


def file_of(code, data, note, thread, dynamic, dynamic_size):
    """The headers, then the two segments."""
    ident = b"\x7fELF\x02\x01\x01\x03" + b"\0" * 8
    image = ident + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, HEADERS, 64, 0, 0
    )
    image += header(LOAD, R | X, 0, 0, code.end(), PAGE)
    image += header(
        LOAD, R | W, data.offset, data.offset + PAGE, data.end() - data.offset, PAGE
    )
    image += header(DYNAMIC, R | W, dynamic - PAGE, dynamic, dynamic_size, 8)
    image += header(NOTE, R, note, note, 20, 4)
    image += header(TLS, R, thread - PAGE, thread, 4, 4)
    image += header(GNU_STACK, R | W | X, 0, 0, 0, 16)
    image += code.bytes
    image += b"\0" * (data.offset - len(image)) + data.bytes
    return image


def library():
    strings = Strings()
    needed = [strings.add("libtorch_cpu.so"), strings.add("libc.so.6")]
    soname = strings.add("seed.so")
    version = strings.add("GLIBC_2.2.5")

    code = Segment(64 + 56 * HEADERS, 0)
    function = code.add(b"\x31\xc0\xc3")  # xor eax, eax; ret
    note = code.add(struct.pack("<III", 4, 4, 3) + b"GNU\0seed")
    data_offset_guess = 0x500
    data = Segment(data_offset_guess, PAGE)
    got = data.add(b"\0" * 48)
    thread = data.add(struct.pack("<I", 3))
    value = data.add(struct.pack("<I", 7))
    initializers = data.add(struct.pack("<Q", function))

    symbols, first, table = symbol_table(strings, function, value)
    gnu, sysv = hash_tables(symbols, first)
    need = struct.pack("<HHIII", 1, 1, needed[1], 16, 0)
    need += struct.pack("<IHHII", sysv_hash("GLIBC_2.2.5"), 0, 2, version, 0)
    relative, slot, global_data, module = 8, 7, 6, 16
    relocations = struct.pack("<QQq", initializers, relative, function)
    relocations += struct.pack("<QQq", got + 24, 4 << 32 | global_data, 0)
    relocations += struct.pack("<QQq", got + 32, 7 << 32 | module, 0)
    calls = struct.pack("<QQq", got + 40, 1 << 32 | slot, 0)

    entries = [
        *((NEEDED, n) for n in needed),
        (SONAME, soname),
        (INIT_ARRAY, initializers),
        (INIT_ARRAYSZ, 8),
        (HASH, code.add(sysv)),
        (GNU_HASH, code.add(gnu)),
        (STRTAB, code.add(strings.bytes)),
        (SYMTAB, code.add(table)),
        (STRSZ, len(strings.bytes)),
        (SYMENT, 24),
        (PLTGOT, got),
        (PLTRELSZ, len(calls)),
        (PLTREL, RELA),
        (JMPREL, code.add(calls)),
        (RELA, code.add(relocations)),
        (RELASZ, len(relocations)),
        (RELAENT, 24),
        (FLAGS_1, 8),
        (VERSYM, code.add(struct.pack(f"<{len(symbols)}H", *(s[6] for s in symbols)))),
        (VERNEED, code.add(need)),
        (VERNEEDNUM, 1),
        (RELACOUNT, 1),
        (0, 0),
        (0, 0),
    ]
    assert code.end() <= data_offset_guess, code.end()
    dynamic_bytes = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    dynamic = data.add(dynamic_bytes)

    return file_of(code, data, note, thread, dynamic, len(dynamic_bytes))


def spoiled(image):
    def put(offset, value):
        copy = bytearray(image)
        copy[offset : offset + len(value)] = value
        return bytes(copy)

    string = image.index(b"aoti_torch_cpu_topk\0")
    tail = image.index(b"__cxa_thread_atexit\0")
    yield "cut_in_the_headers", image[:200]
    yield "cut_in_the_dynamic_table", image[:-40]
    yield "thirty_two_bit", put(4, b"\x01")
    yield "segment_offset_wraps", put(64 + 8, struct.pack("<Q", 2**64 - 8))
    yield "names_overlap", put(string, b"aoti_torch_cpu_to\0p")
    yield "name_is_unrenamed", put(tail, b"__cxa_thread_at_exi")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    image = library()
    for name, bytes_ in (("sound", image), *spoiled(image)):
        (folder / f"{name}.bin").write_bytes(bytes_)


if __name__ == "__main__":
    main()
