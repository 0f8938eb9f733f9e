# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that run on the lab's node, put together here from files of this machine: no registry is asked.

An image is written as an archive of one layer into the cache, under a name that depends on its content.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import paths, tools
from lab.problems import LabError

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
NGINX_IMAGE = "lab.invalid/nginx-unprivileged:1"
APP_IMAGE = "lab.invalid/app:1"
NGINX_USER = 101  # as in nginx-unprivileged


@dataclass(frozen=True)
class Image:
    """What an image holds and what it runs. Paths have no leading slash."""

    reference: str
    command: Sequence[str]
    user: str
    files: Mapping[str, bytes]  # those below bin or lib can be executed
    links: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, int] = field(default_factory=lambda: {"tmp": 0o1777})  # path → mode


def pause(reference: str) -> Path:
    """What holds the namespaces of a pod."""
    return archive(Image(reference, ("/bin/pod", "pause"), "65535:65535", _pod_program()))


def app(reference: str = APP_IMAGE) -> Path:
    """An application: says 200 and `app NAME` on port 8080. NAME is from the environment; `?wait=2s` makes it wait."""
    return archive(Image(reference, ("/bin/pod", "app"), "1000:1000", _pod_program()))


def nginx(reference: str = NGINX_IMAGE) -> Path:
    """The machine's nginx, laid out as in nginx-unprivileged: user 101, port 8080, writes to /tmp only."""
    program = shutil.which("nginx")
    if not program:
        raise LabError("there is no nginx on PATH to make an image of. On Debian: apt-get install nginx")
    account = f"nginx:x:{NGINX_USER}:{NGINX_USER}:nginx:/nonexistent:/bin/false\n"
    files = {
        "usr/sbin/nginx": Path(program).read_bytes(),
        **{library.lstrip("/"): Path(library).read_bytes() for library in _libraries(program)},
        "etc/passwd": f"root:x:0:0:root:/root:/bin/sh\n{account}".encode(),
        "etc/group": f"root:x:0:\nnginx:x:{NGINX_USER}:\n".encode(),
        "etc/nginx/nginx.conf": NGINX_CONFIG.encode(),
        "etc/nginx/mime.types": Path("/etc/nginx/mime.types").read_bytes(),
        "usr/share/nginx/html/index.html": b"nginx of the lab\n",
    }
    links = {"var/log/nginx/access.log": "/dev/stdout", "var/log/nginx/error.log": "/dev/stderr"}
    command = ("nginx", "-g", "daemon off;")
    return archive(Image(reference, command, f"{NGINX_USER}:{NGINX_USER}", files, links))


NGINX_CONFIG = """\
pid /tmp/nginx.pid;
error_log /var/log/nginx/error.log notice;
events {}
http {
    include /etc/nginx/mime.types;
    access_log /var/log/nginx/access.log;
    client_body_temp_path /tmp/client_temp;
    proxy_temp_path /tmp/proxy_temp_path;
    fastcgi_temp_path /tmp/fastcgi_temp;
    uwsgi_temp_path /tmp/uwsgi_temp;
    scgi_temp_path /tmp/scgi_temp;
    server {
        listen 8080;
        root /usr/share/nginx/html;
    }
}
"""


def archive(image: Image) -> Path:
    """The image as a file that a container runtime can import; written when it is not in the cache yet."""
    layer = _layer(image)
    layer_hash = hashlib.sha256(layer).hexdigest()
    config = _encoded(_config(image, layer_hash))
    config_hash = hashlib.sha256(config).hexdigest()
    key = hashlib.sha256(f"{config_hash} {image.reference}".encode()).hexdigest()[:16]
    name = re.sub(r"[^a-z0-9]+", "-", image.reference.rpartition("/")[2])
    target = paths.cache() / "images" / f"{name}-{key}.tar"
    if target.exists():
        return target
    members = {
        f"{layer_hash}.tar": layer,
        f"{config_hash}.json": config,
        "manifest.json": _encoded(
            [{"Config": f"{config_hash}.json", "RepoTags": [image.reference], "Layers": [f"{layer_hash}.tar"]}]
        ),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".new-", delete=False) as scratch:
        with tarfile.open(fileobj=scratch, mode="w") as tar:
            for path, content in members.items():
                _add(tar, path, content)
        os.replace(scratch.name, target)  # appears whole or not at all
    return target


def _layer(image: Image) -> bytes:
    """The file system, always the same bytes for the same content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, mode in sorted(image.folders.items()):
            folder = tarfile.TarInfo(path)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for path, content in sorted(image.files.items()):
            runnable = any(part in ("bin", "sbin") or part.startswith("lib") for part in Path(path).parts)
            _add(tar, path, content, 0o755 if runnable else 0o644)
        for path, goal in sorted(image.links.items()):
            link = tarfile.TarInfo(path)
            link.type, link.linkname = tarfile.SYMTYPE, goal
            tar.addfile(link)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, path: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(path)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _config(image: Image, layer_hash: str) -> dict[str, Any]:
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {
        "architecture": ARCHITECTURES.get(os.uname().machine, os.uname().machine),
        "os": "linux",
        "config": {"Cmd": list(image.command), "Env": [path], "User": image.user, "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_hash}"]},
    }


def _pod_program() -> dict[str, bytes]:
    return {"bin/pod": tools.ensure(["pod"])["pod"].read_bytes()}


def _libraries(program: str) -> list[str]:
    """The shared libraries a program needs, with the loader that finds them."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s+(?:\S+ => )?(/\S+) \(", told, re.MULTILINE)


def _encoded(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()
