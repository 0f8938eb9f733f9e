# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that say which cluster and as whom; every cluster module has them."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig file, several paths joined by V(:), or the content of one as a dictionary.
      - Without it, E(K8S_AUTH_KUBECONFIG), then E(KUBECONFIG), then C(~/.kube/config) are used, and inside a pod its
        service account.
      - The variables named here, the usual ones for proxies and those that a login plugin reads may stand in
        C(environment) of a play, a block or a task, too.
    type: raw
  context:
    description:
      - Context of the kubeconfig. Default is its current context. Variable E(K8S_AUTH_CONTEXT).
    type: str
  host:
    description:
      - URL of the API server. Wins over the kubeconfig. Variable E(K8S_AUTH_HOST).
      - With C(http://) a token or a password is refused, because everything on the way could read it, unless the
        server is on this machine (C(localhost), C(127.0.0.1)).
    type: str
  api_key:
    description:
      - Bearer token. Variable E(K8S_AUTH_API_KEY).
    type: str
  username:
    description:
      - User for basic authentication. Variable E(K8S_AUTH_USERNAME).
    type: str
  password:
    description:
      - Password for basic authentication. Variable E(K8S_AUTH_PASSWORD).
    type: str
  validate_certs:
    description:
      - Whether to check the API server's certificate. Default is what the kubeconfig says, else yes.
        Variable E(K8S_AUTH_VERIFY_SSL).
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description:
      - File with the certificates of the authorities to trust. Variable E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description:
      - File with the client certificate. Variable E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - File with the client certificate's key. Variable E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  proxy:
    description:
      - URL of an HTTP, HTTPS or SOCKS proxy. Default is the kubeconfig's C(proxy-url), else the usual variables, which
        never apply to a server on this machine. Variable E(K8S_AUTH_PROXY).
    type: str
  no_proxy:
    description:
      - Hosts, suffixes and networks that are reached without the proxy, separated by commas.
        Variable E(K8S_AUTH_NO_PROXY).
    type: str
  impersonate_user:
    description:
      - Act as this user. Variable E(K8S_AUTH_IMPERSONATE_USER).
    type: str
  impersonate_groups:
    description:
      - Act as a member of these groups; needs O(impersonate_user). Variable E(K8S_AUTH_IMPERSONATE_GROUPS).
    type: list
    elements: str
  in_cluster:
    description:
      - V(true) uses the service account mounted into this pod, whatever the environment says. V(false) never does.
        V(auto) does when there is no kubeconfig. Variable E(K8S_AUTH_IN_CLUSTER).
    type: str
    choices: [auto, 'true', 'false']
    default: auto
requirements:
  - python >= 3.10
  - PyYAML >= 3.11
  - kubernetes >= 24.2.0, for kubeconfigs with a login plugin (exec or auth-provider)
"""
