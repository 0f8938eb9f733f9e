# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a user says about the page and how it is answered; the words of the contract between options and bundle.

Room: maintenance (pure values). Private to the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The product's default; an option. Its user is a number (101), so that runAsNonRoot can be checked by the kubelet.
DEFAULT_IMAGE = "docker.io/nginxinc/nginx-unprivileged:1.29-alpine"
DEFAULT_RETRY_AFTER = 300  # seconds

HTTP_PORT = 8080  # HTTP/1.1
H2C_PORT = 8081  # HTTP/2 without TLS, as gRPC clients and proxies speak it
STOPPING_PORT = 8082  # for the kubelet only
FOLDER = "/etc/maintenance"  # the ConfigMap
SCRATCH = "/tmp"  # noqa: S108  the one writable folder of the container, and of nobody else
HEALTH_PATH = "/-/healthz"
STOPPING_PATH = "/-/linger"
ID_HEADER = "X-Maintenance"


@dataclass(frozen=True)
class PageText:
    """What the built-in page says. Empty fields take the language's own words."""

    title: str = ""
    message: str = ""  # a blank line begins a new paragraph
    contact: str = ""  # a mail address or an http(s) URL becomes a link
    language: str = "en"
    words: Mapping[str, str] = field(default_factory=dict)  # other words instead of the language's own, by name
    product: str = ""  # shown on top
    refresh: int = 0  # seconds until the page loads itself anew; 0: never


@dataclass(frozen=True)
class PageSource:
    """What the user gave. A body that is None is made from `text_of_page`."""

    html: str | None = None
    json: str | None = None
    xml: str | None = None
    text: str | None = None
    text_of_page: PageText = PageText()


@dataclass(frozen=True)
class Answering:
    """How the page is answered."""

    status: int = 503
    retry_after: int | None = None  # seconds; None: from `ends_at`, else the default
    retry_spread: int = 0  # up to so many seconds more, so that not every client comes back at the same moment
    ends_at: float | None = None  # seconds since the epoch; the planned end, when one is known
    headers: Mapping[str, str] = field(default_factory=dict)  # wins over a built-in one; "" takes it away
    robots: str | None = None  # a robots.txt, answered with 200; None: 503 like everything else
    image: str = DEFAULT_IMAGE
    ip_families: tuple[str, ...] = ("IPv4",)  # as in a Service: nginx cannot listen on a family its node does not have


@dataclass(frozen=True)
class Place:
    """Where the server runs. The defaults are those of its container; others serve to run it on a plain machine."""

    folder: str = FOLDER
    scratch: str = SCRATCH
    address: str = ""  # empty: all addresses of the pod's families
    http: int = HTTP_PORT
    h2c: int = H2C_PORT
    stopping: int = STOPPING_PORT


IN_THE_CONTAINER = Place()
