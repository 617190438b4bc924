"""Writes manifests with every oddity that a question has to survive.

The files exist only as records. Digests are derived from made-up contents, and the tree digests of directories are
computed as docs/tree-digest.md says, so `ftk` accepts the manifests like real ones.
"""

import base64
import csv
import dataclasses
import hashlib
import io
import json
import random
import unicodedata

START_NS = 1_760_000_000_000_000_001
DAY_NS = 86_400_000_000_000

NAMES = [
    b"plain",
    b"two words",
    b"new\nline",
    b"quote'",
    b'double"quote',
    b"back\\slash",
    b"tab\there",
    b"100%_",
    b"a,b;c",
    b"$HOME :name",
    b"-- comment",
    b"\xff\xfe",
    b"caf\xe9",
    b"\xed\xa0\x80",
    "é".encode(),
    "e\u0301".encode(),
    "\U0001f600".encode(),
    "\uffff".encode(),
    "\u202eright".encode(),
    "Straße İ".encode(),
    b"\x01\x7f",
    b"null",
    b"NULL",
    b"1e3",
]
EXTENSIONS = [b"", b".txt", b".TXT", b".tar.gz", b".", b".j\npg", b".\xff", ".É".encode(), ".\u0301x".encode(), b".'"]
# The dates of the sets that are one tree at several times.
SNAPSHOTS = {
    "old": ("--snapshot", "2026-09-01"),
    "new": ("--snapshot", "2026-10-01"),
    "holey": ("--snapshot", "2026-11-01"),
}
# What `holey` could not read: names in two normal forms, one that is not UTF-8, and one that no set has.
FAILED = []
SIZES = [0, 0, 1, 511, 4096, 4096, 1 << 20, (1 << 53) + 1, 1 << 40]


@dataclasses.dataclass
class Entry:
    """A record of a manifest. `content` stands for the bytes of a regular file."""

    path: bytes
    type: str
    content: int = 0
    size_bytes: int = 0
    fields: dict = dataclasses.field(default_factory=dict)

    def digest(self, algorithm):
        """Returns the digest of the made-up content: equal exactly for equal content and size."""
        return hashlib.new(algorithm, b"%d %d" % (self.content, self.size_bytes)).digest()

    def copy(self, **changes):
        """Returns a copy that shares nothing that can change."""
        return dataclasses.replace(self, fields=dict(self.fields), **changes)


def name_member(key, name):
    """Returns `name` as the member `key`, or as `key`_b64 if it is not UTF-8."""
    try:
        return {key: name.decode()}
    except UnicodeDecodeError:
        return {f"{key}_b64": base64.b64encode(name).decode()}


def bounded(size, number):
    """Returns the size, but a huge one only for one number in 64, so that all sums are below 2^63."""
    return size if size < 1 << 40 or number % 64 == 0 else 1 << 20


def tree(rng, n_entries, fs):
    """Returns about `n_entries` entries, with equal files, hard links and copied directories."""
    entries = {b".": Entry(b".", "directory")}
    directories = [b""]
    inode = 2
    while len(entries) < n_entries:
        parent = rng.choice(directories)
        depth = parent.count(b"/")
        stem = rng.choice(NAMES) + (b"%d" % len(entries) if rng.random() < 0.9 else b"")
        path = parent + stem + rng.choice(EXTENSIONS)
        if path in entries or path.rsplit(b"/")[-1] in (b".", b".."):
            continue
        inode += 1
        kind = rng.random()
        if kind < 0.06 and depth < 8:
            entries[path] = Entry(path, "directory")
            directories.append(path + b"/")
        elif kind < 0.08:
            fields = name_member("target", rng.choice(NAMES))
            entries[path] = Entry(path, "symlink", size_bytes=5, fields=fields)
        elif kind < 0.09:
            entries[path] = Entry(path, "fifo")
        else:
            size_bytes = bounded(rng.choice(SIZES), inode) if rng.random() < 0.3 else rng.randrange(1 << 24)
            content = rng.randrange(max(1, n_entries // 200)) if rng.random() < 0.2 else n_entries + inode
            if content < n_entries:
                size_bytes = bounded(SIZES[content % len(SIZES)], content // len(SIZES))
            entries[path] = Entry(path, "file", content, size_bytes)
        describe(rng, entries[path], fs, inode)
        if entries[path].type == "file" and rng.random() < 0.05:
            link(rng, entries, entries[path])
    describe(rng, entries[b"."], fs, 2)
    copy_directories(rng, entries, n_entries // 1000, inode)
    return sorted(entries.values(), key=order)


def order(entry):
    """The order of manifests: the root, then the bytes of the paths."""
    return (entry.path != b".", entry.path)


def describe(rng, entry, fs, inode):
    """Fills the members that come from `stat`."""
    entry.fields |= {
        "allocated_bytes": -(-entry.size_bytes // 4096) * 4096 % (1 << 50),
        "mtime_ns": rng.choice([0, -1, START_NS - rng.randrange(3000 * DAY_NS)]),
        "ctime_ns": START_NS - rng.randrange(DAY_NS),
        "birth_ns": START_NS - rng.randrange(DAY_NS) if rng.random() < 0.5 else None,
        "mode": rng.choice(["0644", "0755", "0600", "4755"]),
        "uid": rng.choice([0, 1000, 1001, 4294967294]),
        "gid": rng.choice([0, 1000]),
        "fs": fs,
        "dev": 65024,
        "ino": inode,
        "nlink": 1,
    }


def link(rng, entries, entry):
    """Adds hard links of a file in its directory. One more name lies outside of the tree."""
    names = [b"%s.link%d" % (entry.path, number) for number in range(rng.randrange(1, 3))]
    entry.fields["nlink"] = len(names) + 2
    for name in names:
        entries[name] = entry.copy(path=name)


def copy_directories(rng, entries, n_copies, inode):
    """Copies directories with everything below them, as a backup inside the tree would."""
    below = {}
    for path in entries:
        for end in (at for at, byte in enumerate(path) if byte == ord("/")):
            below.setdefault(path[: end + 1], []).append(path)
    for number, directory in enumerate(rng.sample(sorted(below), min(n_copies, len(below)))):
        target = b"copy %d" % number
        paths = [directory[:-1], *below[directory][:50]] if len(below[directory]) < 50 else [directory[:-1]]
        for path in paths:
            inode += 1
            copied = entries[path].copy(path=target + path[len(directory) - 1 :])
            copied.fields |= {"ino": inode, "nlink": 1}
            entries[copied.path] = copied


def later(rng, entries):
    """Returns the same tree at a later time: files removed, added, edited, rotten and with other modes."""
    result = []
    for entry in entries:
        change = rng.random()
        if entry.path == b"." or entry.type != "file" or change < 0.6:
            result.append(entry.copy())
        elif change < 0.7:
            added = entry.copy(path=entry.path + b"~", content=entry.content + (1 << 40))
            result += [entry.copy(), added]
        elif change < 0.8:
            edited = entry.copy(content=entry.content + (1 << 41), size_bytes=entry.size_bytes + 1)
            edited.fields["mtime_ns"] += 1
            result.append(edited)
        elif change < 0.82:
            result.append(entry.copy(content=entry.content + (1 << 42)))
        elif change < 0.84:
            damaged = entry.copy()
            damaged.fields |= {"damaged_ns": START_NS + DAY_NS, "verified_ns": START_NS - DAY_NS}
            result.append(damaged)
        elif change < 0.9:
            changed = entry.copy()
            changed.fields |= {"mode": "0700", "uid": 7, "verified_ns": START_NS + DAY_NS}
            result.append(changed)
    return sorted({entry.path: entry for entry in result}.values(), key=order)


def bare(entries):
    """Returns the entries as another program would have recorded them: without inodes, times or owners."""
    kept = {"allocated_bytes", "mode", "target", "target_b64"}
    result = [entry.copy() for entry in entries]
    for number, entry in enumerate(result):
        entry.fields = {key: value for key, value in entry.fields.items() if key in kept}
        if number % 3 == 0:
            entry.fields.pop("allocated_bytes")
    return result


def tree_digests(entries, algorithm):
    """Returns the tree digest of each directory, children before parents."""
    children = {}
    for entry in entries:
        if entry.path != b".":
            parent, _, name = entry.path.rpartition(b"/")
            children.setdefault(parent or b".", []).append((name, entry))
    digests = {}
    directories = [entry.path for entry in entries if entry.type == "directory"]
    for path in sorted(directories, key=lambda path: (path != b".") * (1 + path.count(b"/")), reverse=True):
        message = hashlib.new(algorithm, b"ftk tree 1\n")
        for name, entry in sorted(children.get(path, []), key=lambda child: child[0]):
            parts = [name]
            letter = {"directory": b"d", "symlink": b"l", "fifo": b"p"}.get(entry.type, b"f")
            if entry.type == "file":
                letter = b"x" if int(entry.fields["mode"], 8) & 0o100 else b"f"
                parts += [b"%d" % entry.size_bytes, entry.digest(algorithm)]
            elif entry.type == "directory":
                parts.append(digests[entry.path])
            elif entry.type == "symlink":
                target = entry.fields.get("target")
                parts.append(target.encode() if target is not None else base64.b64decode(entry.fields["target_b64"]))
            message.update(letter + b"".join(b"%d:%s," % (len(part), part) for part in parts))
        digests[path] = message.digest()
    return digests


def write(file, root, entries, algorithms, start_ns=START_NS, with_tree=True, failed=()):
    """Writes a manifest, sealed by its footer."""
    trees = {algorithm: tree_digests(entries, algorithm) for algorithm in algorithms} if with_tree else {}
    header = {"ftk": "manifest", "version": 2, **name_member("root", root), "algorithms": algorithms}
    header |= {"xattrs": False, "options": [], "start_ns": start_ns}
    if failed:
        header |= {"version": 3, "failed": [name_member("path", path) for path in failed]}
    seal = hashlib.sha256()
    with open(file, "wb") as out:
        for record in [header, *(members(entry, algorithms, trees) for entry in entries)]:
            line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
            seal.update(line)
            out.write(line)
        footer = {"records": len(entries) + 1, "sha256": seal.hexdigest()}
        out.write(json.dumps({"footer": footer}, separators=(",", ":")).encode() + b"\n")


def members(entry, algorithms, trees):
    """Returns the members of an entry. Absent ones are skipped."""
    record = {**name_member("path", entry.path), "type": entry.type}
    if "ino" in entry.fields or entry.type == "file":
        record["size_bytes"] = entry.size_bytes
    record |= {key: value for key, value in entry.fields.items() if value is not None}
    if entry.type == "file" and algorithms:
        record["digests"] = {algorithm: entry.digest(algorithm).hex() for algorithm in algorithms}
    if entry.type == "directory" and trees:
        record["tree"] = {algorithm: trees[algorithm][entry.path].hex() for algorithm in algorithms}
    return record


def manifests(directory, n_entries, seed=1):
    """Writes five manifests with about `n_entries` entries in total and returns their files by name.

    `old` and `new` are one tree at two times. `holey` is the same tree, of which some directories could not be read.
    `imported` has another algorithm and lacks most members. `unread` has no digests at all.
    """
    rng = random.Random(seed)
    fs = "0000ef53000000009d7b286203544cc6"
    old = tree(rng, n_entries * 9 // 20, fs)
    new = later(rng, old)
    FAILED[:] = failures(old)
    holey = [entry.copy() for entry in new if not is_below_failure(entry.path) or rng.random() < 0.3]
    rest = tree(rng, max(20, n_entries - len(old) - len(new)), None)
    half = len(rest) // 2
    sets = {
        "old": (b"/srv/archive", old, ["sha256"], START_NS),
        "new": (b"/srv/archive", new, ["sha256", "md5"], START_NS + 2 * DAY_NS),
        "holey": (b"/srv/archive", holey, ["sha256"], START_NS + 3 * DAY_NS),
        "imported": (b"/srv/caf\xe9", bare(rest[:half]), ["md5"], START_NS),
        "unread": (b"relative", rest, [], START_NS),
    }
    files = {}
    for name, (root, entries, algorithms, start_ns) in sets.items():
        files[name] = directory / f"{name}.jsonl"
        failed = FAILED if name == "holey" else ()
        write(files[name], root, entries, algorithms, start_ns, name in ("old", "new"), failed)
    return files


def failures(entries):
    """Returns directories and a file that a later run could not read, in the order of a manifest."""
    directories = [entry.path for entry in entries if entry.type == "directory" and entry.path != b"."]
    # DuckDB does not normalise a path that is not UTF-8.
    composed = [path for path in directories if "é".encode() in path and "path" in name_member("path", path)][:1]
    failed = [path.replace("é".encode(), "e\u0301".encode()) for path in composed]
    failed += [path for path in directories if b"\xff" in path][:1] + directories[-2:] + [b"nowhere/100%_"]
    failed += [entry.path for entry in entries if entry.type == "file"][:1]
    return sorted(set(failed))


def is_below_failure(path):
    """Returns whether a path is at or below a failure."""
    above = [path, *(path[:at] for at, byte in enumerate(path) if byte == ord("/"))]
    return any(in_nfc(one) == in_nfc(failed) for one in above for failed in FAILED)


def in_nfc(path):
    """Returns a path in NFC, where it is UTF-8."""
    return unicodedata.normalize("NFC", path.decode(errors="surrogateescape"))


def expected(manifest, file):
    """Writes the list of every second path of a manifest that is UTF-8."""
    records = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
    paths = [record["path"] for record in records if "path" in record][::2]
    with open(file, "w", encoding="utf-8", newline="") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["path"], *([path] for path in paths)])


def inventory(directory):
    """Writes an S3 Inventory of a bucket with versions, and returns its manifest."""
    schema = (
        "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass, EncryptionStatus"
    )
    rows = io.StringIO()
    for number in range(40):
        for version in range(number % 4 + 1):
            is_latest = "true" if version == 0 else "false"
            is_deleted = "true" if version == number % 3 and number % 5 == 0 else "false"
            size = "" if is_deleted == "true" else number * 1000 + version
            e_tag = hashlib.md5(b"%d %d" % (number % 7, version), usedforsecurity=False).hexdigest()
            storage = ["STANDARD", "GLACIER", ""][(number + version) % 3]
            row = ["bucket", f"d{number % 3}/caf%C3%A9+{number}", f"v{version}", is_latest, is_deleted, size]
            row += [f"2026-01-{20 - version:02}T00:00:00.000Z", e_tag, storage, "SSE-S3"]
            csv.writer(rows, quoting=csv.QUOTE_ALL).writerow(row)
    data = rows.getvalue().encode()
    folder = directory / "inventory"
    folder.mkdir()
    (folder / "rows.csv").write_bytes(data)
    files = [
        {"key": "rows.csv", "size": len(data), "MD5checksum": hashlib.md5(data, usedforsecurity=False).hexdigest()}
    ]
    manifest = {"sourceBucket": "bucket", "fileFormat": "CSV", "fileSchema": schema, "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder / "manifest.json"
