# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The products we ship a profile for, by name.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

from .products import argo_cd, cert_manager, cnpg, crossplane, flux, istio, kyverno, longhorn, ngrok, rook

_ALL = (argo_cd, cert_manager, cnpg, crossplane, flux, istio, kyverno, longhorn, ngrok, rook)
PRODUCTS: dict[str, dict[str, Any]] = {product.PROFILE["name"]: product.PROFILE for product in _ALL}
