#!/usr/bin/env python3
"""Restores a file from a parity file and the rest of a tree, without the manifest.

    parity_decoder.py PARITY TREE DIGEST OUT

A second implementation of docs/parity.md, for tests: slow, and without any library. Only SHA-256 is supported.
"""

import hashlib
import os
import sys

POLYNOMIAL = 0x1002D
BASIS = [0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012,
         0x6C98, 0x10D8, 0x6A72, 0xB900, 0xFDB8, 0xFB34, 0xFF38, 0x991E]
PAGE = 4096


def crc64(data, _table=[]):
    """CRC-64/NVME."""
    if not _table:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x9A6C9329AC4BC9B5 if byte & 1 else 0)
            _table.append(byte)
    crc = 2**64 - 1
    for byte in data:
        crc = _table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 2**64 - 1


# Logarithms of polynomials, to the base x.
EXP, LOG = [1], {}
while len(EXP) < 2**16 - 1:
    value = EXP[-1] << 1
    EXP.append(value ^ POLYNOMIAL if value >> 16 else value)
for exponent, value in enumerate(EXP):
    LOG[value] = exponent


def multiply(a, b):
    return EXP[(LOG[a] + LOG[b]) % 65535] if a and b else 0


def inverse(a):
    return EXP[-LOG[a] % 65535]


def polynomial(symbol):
    value = 0
    for bit in range(16):
        if symbol >> bit & 1:
            value ^= BASIS[bit]
    return value


POLYNOMIALS = [polynomial(symbol) for symbol in range(2**16)]
SYMBOLS = {value: symbol for symbol, value in enumerate(POLYNOMIALS)}


def solve(rows, c, unknown):
    """Returns, for each unknown point, the factors of the known ones: v[unknown] = Σ factor · v[known].

    The equations Σ v · point^j = 0 for j < c, where there are c unknown values, are solved by interpolation: the values
    times the derivative of Π (x - point) over all points are those of a polynomial of degree < the number of known points.
    """
    points = {row: POLYNOMIALS[row] for row in rows}
    known = [row for row in rows if row not in unknown]
    assert len(unknown) == c and len(known) == len(rows) - c

    def product(at, others):
        value = 1
        for other in others:
            if other != at:
                value = multiply(value, points[at] ^ points[other])
        return value

    weight = {row: product(row, rows) for row in rows}
    factors = {}
    for lost in unknown:
        numerator = product(lost, known)
        factors[lost] = {}
        for row in known:
            # Lagrange: value of the interpolation at the lost point.
            denominator = multiply(product(row, known), points[lost] ^ points[row])
            factor = multiply(multiply(numerator, inverse(denominator)), multiply(weight[row], inverse(weight[lost])))
            factors[lost][row] = factor
    return factors


class Parity:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        heads = [self.data[at:at + PAGE] for at in (0, PAGE, len(self.data) - PAGE)]
        heads = [head for head in heads if len(head) == PAGE and head.startswith(b"ftk parity file\n")
                 and crc64(head[:-8]) == word(head, PAGE - 8)]
        head = max(heads, key=lambda head: word(head, 40))
        assert word(head, 16) & 0xFFFFFFFF == 1, "version"
        # The id and the generation: a page of another state of the file does not count.
        self.block, self.salt = word(head, 16) >> 32, head[24:48]
        index = self.section(1, [word(head, at) for at in (56, 64, 72)])
        at = 1
        digest_len = 0
        for _ in range(index[0]):
            name = index[at + 1:at + 1 + index[at]]
            at += 1 + index[at]
            assert name == b"sha256", name
            digest_len += index[at]
            at += 1

        def take(count):
            nonlocal at
            at += 8 * count
            return [word(index, at - 8 * count + 8 * nth) for nth in range(count)]

        self.batches = [take(4) for _ in range(take(1)[0])]
        self.pieces, self.contents = [], {}
        for _ in range(take(1)[0]):
            digest = index[at:at + digest_len]
            at += digest_len
            size, count = take(2)
            own = [take(3) for _ in range(count)]
            self.contents[digest] = size
            self.pieces += [(place, length, digest, offset) for offset, place, length in own]
        self.data_sums = take(sum(batch[0] for batch in self.batches))
        self.recovery_sums = take(sum(batch[1] * batch[2] for batch in self.batches))
        assert at == len(index)

    def section(self, kind, section):
        length, *copies = section
        content = b""
        for number in range(-(-length // 4080)):
            for copy in copies:
                page = self.data[copy + number * PAGE:copy + (number + 1) * PAGE]
                if len(page) == PAGE and word(page, 4080) == kind << 56 | number \
                        and crc64(self.salt + page[:-8]) == word(page, PAGE - 8):
                    content += page[:4080]
                    break
            else:
                sys.exit("both copies of a page are damaged")
        return content[:length]

    def restore(self, wanted, files):
        """Returns the content with this digest."""
        content = bytearray(self.contents[wanted])
        first = 0
        first_sum = 0
        for n, groups, m, offset in self.batches:
            c = 1 << (m - 1).bit_length()
            for group in range(groups):
                blocks = list(range(first + group, first + n, groups))
                if any(piece[2] == wanted for block in blocks for piece in self.of(block)):
                    recovery = []
                    for row in range(m):
                        nth = row * groups + group
                        bytes_ = self.data[offset + nth * self.block:offset + (nth + 1) * self.block]
                        good = len(bytes_) == self.block and crc64(bytes_) == self.recovery_sums[first_sum + nth]
                        recovery.append(bytes_ if good else None)
                    self.group(blocks, recovery, c, wanted, files, content)
            first += n
            first_sum += m * groups
        assert hashlib.sha256(content).digest() == wanted, "too much is lost"
        return bytes(content)

    def of(self, block):
        """Returns the parts of contents in a block: place, length, digest, offset in the content."""
        start, end = block * self.block, (block + 1) * self.block
        for place, length, digest, offset in self.pieces:
            low, high = max(place, start), min(place + length, end)
            if low < high:
                yield low, high - low, digest, offset + low - place

    def group(self, blocks, recovery, c, wanted, files, content):
        rows, lost = [], []
        for block in blocks:
            data, gone = bytearray(self.block), set()
            for place, length, digest, offset in self.of(block):
                start = place - block * self.block
                if digest in files:
                    with open(files[digest], "rb") as file:
                        file.seek(offset)
                        data[start:start + length] = file.read(length)
                else:
                    gone |= set(range(start // 64, -(-(start + length) // 64)))
            rows.append(data)
            lost.append(gone)
        memory = {}
        for unit in set().union(*lost):
            missing = tuple(row for row, gone in enumerate(lost) if unit in gone)
            spare = [row for row, bytes_ in enumerate(recovery) if bytes_ is not None]
            used = spare[:len(missing)]
            if len(used) < len(missing):
                continue
            unknown = {c + row for row in missing} | {row for row in range(c) if row not in used}
            if missing not in memory:
                memory[missing] = solve(list(range(c + len(rows))), c, unknown)
            factors = memory[missing]
            for row in missing:
                for low in range(unit * 64, unit * 64 + 32):
                    value = 0
                    for point, factor in factors[c + row].items():
                        source = rows[point - c] if point >= c else recovery[point]
                        value ^= multiply(factor, POLYNOMIALS[source[low] | source[low + 32] << 8])
                    symbol = SYMBOLS[value]
                    rows[row][low], rows[row][low + 32] = symbol & 255, symbol >> 8
        for block, data in zip(blocks, rows):
            for place, length, digest, offset in self.of(block):
                if digest == wanted:
                    start = place - block * self.block
                    content[offset:offset + length] = data[start:start + length]


def word(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def main():
    parity, tree, digest, out = sys.argv[1:]
    parity = Parity(parity)
    files = {}
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                files[hashlib.sha256(open(path, "rb").read()).digest()] = path
    files.pop(bytes.fromhex(digest), None)
    with open(out, "wb") as file:
        file.write(parity.restore(bytes.fromhex(digest), files))


if __name__ == "__main__":
    main()
