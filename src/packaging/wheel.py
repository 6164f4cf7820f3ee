#!/usr/bin/env python3
"""Packs a static program, and what else `make install` has put below STAGE, as a wheel for pip.

    VERSION=... src/packaging/wheel.py STAGE MACHINE DIRECTORY <METADATA

The wheel is the same bytes each time. A static program needs no C library: it has the tags of two.
"""

import base64
import hashlib
import os
import pathlib
import sys
import zipfile

stage, machine, directory = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
name = "unseen-" + os.environ["VERSION"]
info = name + ".dist-info/"
platforms = ["manylinux2014_" + machine, "musllinux_1_1_" + machine]


def place(path):
    if path.parent.name == "bin":
        return name + ".data/scripts/" + path.name
    if path.name in ("LICENSE", "NOTICES"):
        return info + "licenses/" + path.name
    return name + ".data/data/" + path.relative_to(stage).as_posix()


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


files = {place(path): path.read_bytes() for path in stage.rglob("*") if path.is_file()}
files[info + "METADATA"] = sys.stdin.buffer.read()
files[info + "WHEEL"] = "".join(
    ["Wheel-Version: 1.0\n", "Generator: wheel.py of unseen\n", "Root-Is-Purelib: false\n"]
    + ["Tag: py3-none-" + platform + "\n" for platform in platforms]
).encode()
rows = ["%s,sha256=%s,%d\n" % (path, digest(files[path]), len(files[path])) for path in sorted(files)]
files[info + "RECORD"] = ("".join(rows) + info + "RECORD,,\n").encode()

with zipfile.ZipFile(directory / (name + "-py3-none-" + ".".join(platforms) + ".whl"), "w") as wheel:
    for path in sorted(files):
        entry = zipfile.ZipInfo(path)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        wheel.writestr(entry, files[path])
