# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Annotations that shape what a controller does with a backend, and what each must be while a page stands there.

Room: profiles (data). They were made for the application: they would break the page, hide it, or go around it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RouteAnnotation:
    meanwhile: str | None = None  # its value during maintenance; None: it is taken off
    refuse: str = ""  # instead: why no page can be shown, if it is "true"


_OFF = RouteAnnotation()
_HTTP = RouteAnnotation("HTTP")
_PASSED_THROUGH = RouteAnnotation(refuse="its TLS is passed through unread")

# prefix → name → rule
_RULES: dict[str, dict[str, RouteAnnotation]] = {
    "nginx.ingress.kubernetes.io": {
        "ssl-passthrough": _PASSED_THROUGH,
        "backend-protocol": _HTTP,
        # The controller would answer 503 with a page of its own.
        "custom-http-errors": _OFF,
        "default-backend": _OFF,
        # They answer before any backend is asked.
        "permanent-redirect": _OFF,
        "permanent-redirect-code": _OFF,
        "temporal-redirect": _OFF,
        "temporal-redirect-code": _OFF,
        "configuration-snippet": _OFF,
        "server-snippet": _OFF,
        "app-root": _OFF,
        "rewrite-target": _OFF,
        # Nobody should have to log in to read that he cannot log in.
        "auth-url": _OFF,
        "auth-signin": _OFF,
        "auth-type": _OFF,
        "auth-secret": _OFF,
        "auth-secret-type": _OFF,
        "auth-realm": _OFF,
        "auth-snippet": _OFF,
        "auth-tls-secret": _OFF,
        "auth-tls-verify-client": _OFF,
        "auth-tls-verify-depth": _OFF,
        "auth-tls-error-page": _OFF,
        "mirror-target": _OFF,
        "mirror-request-body": _OFF,
        "mirror-host": _OFF,
        "proxy-ssl-secret": _OFF,
        "proxy-ssl-verify": _OFF,
        "proxy-ssl-name": _OFF,
        "upstream-vhost": _OFF,
        # A canary would take its share of the requests elsewhere, or find no primary.
        "canary": _OFF,
        "canary-weight": _OFF,
        "canary-by-header": _OFF,
        "canary-by-header-value": _OFF,
        "canary-by-header-pattern": _OFF,
        "canary-by-cookie": _OFF,
    },
    "nginx.org": {"ssl-services": _OFF, "grpc-services": _OFF, "websocket-services": _OFF, "rewrites": _OFF},
    "haproxy.org": {
        "ssl-passthrough": _PASSED_THROUGH,
        "server-ssl": RouteAnnotation("false"),
        "server-proto": _OFF,
        "path-rewrite": _OFF,
        "auth-type": _OFF,
        "check-http": _OFF,
        "request-redirect": _OFF,
    },
    "haproxy-ingress.github.io": {
        "ssl-passthrough": _PASSED_THROUGH,
        "backend-protocol": RouteAnnotation("h1"),
        "secure-backends": RouteAnnotation("false"),
        "auth-url": _OFF,
        "auth-secret": _OFF,
        "auth-type": _OFF,
        "auth-tls-secret": _OFF,
        "health-check-uri": _OFF,
        "rewrite-target": _OFF,
        "app-root": _OFF,
    },
    "alb.ingress.kubernetes.io": {
        "backend-protocol": _HTTP,
        "backend-protocol-version": RouteAnnotation("HTTP1"),
        "healthcheck-path": RouteAnnotation("/-/healthz"),
        "healthcheck-port": RouteAnnotation("traffic-port"),
        "healthcheck-protocol": _HTTP,
        "success-codes": RouteAnnotation("200"),
        "auth-type": _OFF,
    },
    "appgw.ingress.kubernetes.io": {
        "backend-protocol": RouteAnnotation("http"),
        "backend-path-prefix": _OFF,
        "health-probe-path": RouteAnnotation("/-/healthz"),
        "health-probe-status-codes": RouteAnnotation("200"),
    },
    "ingress.kubernetes.io": {"ssl-passthrough": _PASSED_THROUGH},
    "konghq.com": {"protocols": RouteAnnotation("http,https"), "override": _OFF, "rewrite": _OFF},
    "haproxy.router.openshift.io": {"rewrite-target": _OFF},
}

ROUTE_ANNOTATIONS: dict[str, RouteAnnotation] = {
    f"{prefix}/{name}": rule for prefix, rules in _RULES.items() for name, rule in rules.items()
}
