# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab network's stand-in for an API server: answers health checks. A script: `python server.py ADDRESS PORT`"""

from __future__ import annotations

import http.server
import json
import sys

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
ANSWERS = {
    "/healthz": "ok",
    "/livez": "ok",
    "/readyz": "ok",
    "/version": json.dumps({"major": "1", "minor": "35", "gitVersion": "v1.35.4"}),
    "/api/v1/namespaces/default": json.dumps(NAMESPACE),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answer = ANSWERS.get(self.path)
        body = (answer or "404 page not found").encode()
        self.send_response(404 if answer is None else 200)
        kind = "application/json" if body.startswith(b"{") else "text/plain"
        for header, value in {"Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
