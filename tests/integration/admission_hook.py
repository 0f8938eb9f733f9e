# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An admission webhook that answers: it refuses what it is asked about, in the words a test gives it."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from integration.breaking import WEBHOOKS
from integration.stage import Stage, body
from lab.plane.certificates import Authority


@contextlib.contextmanager
def refusing_webhook(
    stage: Stage, directory: Path, name: str, words: str, rule: Mapping[str, Any], **more: Any
) -> Iterator[None]:
    """In force as long as the block runs. `name` has to have dots in it."""
    authority = Authority(directory, "hook-ca")
    pair = authority.server("hook")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert_file, pair.key_file)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = {"code": 409, "message": words, "reason": words}
            review["response"] = {"uid": review.pop("request")["uid"], "allowed": False, "status": status}
            answer = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    bundle = base64.b64encode(authority.files.cert_file.read_bytes()).decode()
    hook = {
        "name": name,
        "clientConfig": {"url": f"https://127.0.0.1:{server.server_port}/", "caBundle": bundle},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [rule],
        **more,
    }
    called = f"{name}-{stage.namespace}"
    kind = "ValidatingWebhookConfiguration"
    stage.put(body("admissionregistration.k8s.io/v1", kind, called, "", webhooks=[hook]))
    try:
        yield
    finally:
        stage.api.delete(f"{WEBHOOKS}/{called}")
        server.shutdown()
        server.server_close()
        thread.join(5)
