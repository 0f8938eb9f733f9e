#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance
short_description: Put applications behind a maintenance page, and back exactly as they were
version_added: 0.1.0
description:
  - Swaps the backends of routes to a page that answers 503 on every path, and later puts back what stood there. Works
    with Ingress, Traefik's IngressRoute, Gateway API's HTTPRoute and GRPCRoute, OpenShift's Route, Contour's HTTPProxy
    and Istio's VirtualService; other kinds can be described with O(route_kinds).
  - Nothing is changed before the API server has tried every write, and no route before its page answers. A backup of
    each route is kept in the cluster, owned by the route. If one route refuses, those before it are put back.
  - Routes may be edited during maintenance. When the page is taken away, each place that still shows it gets back what
    stood there; what was edited, added or removed meanwhile stays as it is, and is listed.
  - Routes that show the same page share it. Kubernetes removes a page by itself when the last of its routes is deleted.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.run
  - sunset.kube.routes
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  state:
    description:
      - V(enabled) shows the page, V(disabled) takes it away.
      - V(swept) repairs what was left - by tasks that were killed, by windows that are over, by routes that were
        deleted, and by the maintenance-operator of the community, whose marks, pages and backups are understood. What
        it is still asked for by its annotation is not touched. Its C(custom-page) annotation is yours and stays, with
        every state.
    type: str
    choices: [enabled, disabled, swept]
    default: enabled
  page:
    description:
      - What is shown. Without it, a built-in page.
    type: dict
    suboptions:
      html:
        description: A page of your own, whole. Anything it refers to must be in it.
        type: str
      html_file:
        description: The same from a file, where the task runs.
        type: path
      json:
        description: What programs are told that ask for JSON, as text or as a hash. A problem document by default.
        type: raw
      xml:
        description: What those are told that ask for XML.
        type: str
      text:
        description: What those are told that ask for plain text.
        type: str
      config_map:
        description:
          - A ConfigMap with the page, by name, or as a hash of C(name), C(namespace) (the target's own by default) and
            C(key) (V(page.html) by default). C(page.json), C(page.xml) and C(page.txt) beside it are taken, too.
        type: raw
      name:
        description: Short for the ConfigMap C(maintenance-page-<name>) in the target's namespace.
        type: str
      title:
        description: Title of the built-in page.
        type: str
      details:
        description: What the built-in page says below its title. A blank line begins a new paragraph.
        type: str
      contact:
        description: Whom to ask. A mail address or a URL becomes a link.
        type: str
      product:
        description: Name that is shown on top.
        type: str
      language:
        description: Language of the built-in words, for example V(en), V(de) or V(fr).
        type: str
      words:
        description: Other words instead of the built-in ones, by name.
        type: dict
      refresh:
        description: Seconds after which browsers load the page anew. Never by default.
        type: int
  status_code:
    description:
      - HTTP status of the page.
    type: int
    default: 503
  retry_after:
    description:
      - Seconds that clients are told to wait. From the end of O(window) where one is known, else 300.
    type: int
  retry_spread:
    description:
      - Up to so many seconds more, different for each client, so that not all come back at the same moment.
    type: int
    default: 0
  robots:
    description:
      - A C(robots.txt), answered with 200. Without it, it is 503 like everything else.
    type: str
  headers:
    description:
      - Further headers of every answer. They win over built-in ones; an empty value takes one away.
    type: dict
  workload:
    description:
      - What serves the page.
    type: dict
    suboptions:
      kind:
        description: V(deployment), or a single V(pod) where nothing else is allowed.
        type: str
        choices: [deployment, pod]
        default: deployment
      replicas:
        description: How many Pods.
        type: int
        default: 2
      image:
        description: An image with nginx that runs without root. C(nginx-unprivileged) by default.
        type: str
      pull_secrets:
        description: Names of Secrets for pulling it.
        type: list
        elements: str
      resources:
        description: Requests and limits of the container.
        type: dict
      run_as_user:
        description: Number of the user it runs as, for images that do not say it themselves.
        type: int
      node_selector:
        description: Labels of the nodes it may run on.
        type: dict
      tolerations:
        description: Taints it does not mind.
        type: list
        elements: dict
      service_type:
        description: Type of its Service. V(NodePort) for load balancers that send to nodes.
        type: str
        choices: [ClusterIP, NodePort]
        default: ClusterIP
      autoscaling:
        description: Scale it by its use of the processor.
        type: dict
        suboptions:
          min:
            description: The fewest Pods.
            type: int
            default: 2
          max:
            description: The most Pods.
            type: int
            default: 6
          cpu:
            description: Percent of the requested processor time to aim at.
            type: int
            default: 80
  exempt_paths:
    description:
      - Paths that stay open, with everything below them. V(/.well-known/acme-challenge/) by default, so that
        certificates can be renewed. Routes that cert-manager makes for this are never touched.
      - Places of a route below such a path are left as they are. A path that is given here, and has no place of its
        own, gets an entry beside the one it belongs to, with the backend of that one; it goes with the page. Ingress,
        IngressRoute, HTTPRoute, HTTPProxy and VirtualService can do this. Others are refused, all in one message, and
        so is an Ingress with annotations that must be off while the page is shown, such as those for a login.
    type: list
    elements: str
  bypass:
    description:
      - Who still reaches the application, where the kind of route can tell. IngressRoute can tell all of it,
        VirtualService and HTTPProxy headers and cookies, HTTPRoute headers. An Ingress can, if Traefik serves it, with
        O(strategy=overlay). What cannot be told is refused before anything is changed.
      - Never shown in results, previews and evidence. The route and its backup in the cluster hold the values, so let
        nobody read these who must not use them.
    type: dict
    suboptions:
      headers:
        description: Requests with one of these headers, by name and value.
        type: dict
      cookies:
        description: Requests with one of these cookies, by name and value.
        type: dict
      cidrs:
        description:
          - Requests from these address ranges. What counts is who is connected to the controller, which behind another
            proxy is that proxy.
        type: list
        elements: str
  strategy:
    description:
      - V(swap) changes the routes.
      - V(overlay) leaves them as they are and puts a second route in front of each, owned by it. So nobody has to wait
        who would put a changed route back. Only Traefik can do this, for IngressRoute and, with its own kinds
        installed, for Ingress of its class. The overlay wins over its own route and over nothing that won over that.
        When a route was edited, the same task brings its overlay up to date.
      - V(auto) takes the overlay where it can be, and swaps the rest. A route keeps the way it began with until its
        page is taken away.
      - Whether Traefik serves overlays depends on its settings, such as the namespaces and classes it looks at. Use
        O(verify) to see the page with its eyes.
    type: str
    choices: [swap, overlay, auto]
    default: swap
  gitops:
    description:
      - Argo CD, Flux and their like put back what they find changed. V(fail) refuses routes of an owner that does so,
        or that cannot be seen, with the way out for each. Owners that do not heal by themselves are only warned of.
      - V(pause) makes the owner wait and lets it go on when the last of its routes is back. Flux is asked by an
        annotation on the route, in the same patch as the page; Argo CD by C(argocd.argoproj.io/skip-reconcile) on the
        Application, which stops all of it. Who cannot be asked (Fleet, Config Sync, kapp-controller, a ManifestWork, an
        Application of another cluster) is refused as with V(fail).
      - V(ignore) does not look.
    type: str
    choices: [fail, pause, ignore]
    default: fail
  window:
    description:
      - When maintenance ends. Shown on the page and in C(Retry-After). With O(state=swept), what is over is taken away.
    type: dict
    suboptions:
      end:
        description: The end, for example V(2026-11-16T23:30:00Z).
        type: str
      for:
        description: How long from now on, for example V(90m) or V(1h30m). Each run moves the end.
        type: str
      job:
        description:
          - A CronJob beside the page ends the window by itself, in the first minute after its end. It sweeps the
            namespace (as O(state=swept) does), so that only what is over is taken away, and waits for the application
            as O(reopen) says. It goes with the page. Run the task again with another end to move it.
        type: dict
        suboptions:
          image:
            description: An image with ansible-core and this collection, such as the one of the operator.
            type: str
            required: true
          service_account:
            description:
              - The ServiceAccount it runs as, in the namespace of the routes. It needs the rights of O(state=swept)
                there; with O(gitops=pause) also to patch the Applications, and to list ConfigMaps everywhere.
            type: str
            required: true
  reopen:
    description:
      - What must be true before the page is taken away.
    type: dict
    suboptions:
      endpoints:
        description: The Services of the application have ready endpoints. Waited for until O(timeout).
        type: bool
        default: true
  verify:
    description:
      - Ask the controller over HTTP, for every host and path, whether this very page is shown. If not, the task fails
        and the pages stay. Places that need more than a host and a path, such as a header, are not asked for.
    type: dict
    suboptions:
      url:
        description: Where the controller listens, for example V(https://203.0.113.7).
        type: str
        required: true
      timeout:
        description: Seconds until every host must show it.
        type: int
        default: 30
      validate_certs:
        description: Whether its certificates are checked.
        type: bool
        default: true
  linger:
    description:
      - Seconds that controllers are given to notice, after routes were written. Until then requests still go where they
        went - so the task does not end before, and a page that no route shows any more stays as long.
      - Traefik needs up to 2 seconds as delivered; load balancers of clouds may need 60. At most 600, and never longer
        than what is left of O(timeout).
    type: int
    default: 5
  sweep_after:
    description:
      - With O(state=swept), seconds until an unused page or backup counts as left behind.
    type: int
    default: 600
  reason:
    description:
      - Why, or a ticket. Kept with the backup.
    type: str
  holder:
    description:
      - On whose behalf, in one word, for example the name of a pipeline. Kept with the backup. Several may want the
        same route behind a page at the same time, and it stays there until the last of them lets go.
      - With O(state=enabled), routes that this holder has named before, and does not name any more, lead to their
        application again.
      - With O(state=disabled), only routes of this holder are meant; O(targets) may be left out, for all of them. A
        route that others hold, too, keeps its page for them.
      - Without it, the page is that of whoever runs tasks by hand, and O(state=disabled) takes it away from every
        holder.
    type: str
  takeover:
    description:
      - With O(state=enabled), routes that the maintenance-operator of the community holds are taken from it. Without
        it, they are refused.
      - One patch puts this page in the place of its page, and removes its marks and the annotation that asks for it, so
        that it does not come back. What its backup says becomes the backup of this module. When the routes are seen
        behind this page, its backups and pages for them are deleted, unless other routes need them.
      - A route is refused, before anything is changed, if its backup is missing or does not say what stood there, with
        O(strategy=overlay), and with O(backup_key_secret), since that operator signs no backups.
    type: bool
    default: false
  backup_key_secret:
    description:
      - Namespace and name of a Secret, as C(namespace/name), with whose C(key) backups are signed. It is made if it is
        not there. Backups that were not signed with it are not restored; the message names them.
      - For tasks with more permissions than the users who can write ConfigMaps beside the routes, since a backup is a
        ConfigMap. The operator sets it to a Secret of its own namespace. Without it, a backup may still hold only such
        changes as this module makes itself.
    type: str
seealso:
  - module: sunset.kube.maintenance_info
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What would be changed, if the shop went into maintenance?
  sunset.kube.maintenance:
    targets:
      - namespace: shop
  check_mode: true
  diff: true

- name: The shop goes into maintenance for an hour
  sunset.kube.maintenance:
    targets:
      - namespace: shop
    page:
      title: We are moving to a faster database
      details: Your orders are safe.
      contact: status@shop.example.com
    window:
      for: 1h

- name: Only its API, for everybody but the office
  sunset.kube.maintenance:
    targets:
      - kind: ingressroutes.traefik.io
        namespace: shop
        paths:
          - /api*
    bypass:
      cidrs:
        - 203.0.113.0/24

- name: Take over what the maintenance-operator of the community has closed
  sunset.kube.maintenance:
    targets:
      - namespace: shop
    takeover: true

- name: Open again, as soon as the application is ready
  sunset.kube.maintenance:
    state: disabled
    targets:
      - namespace: shop

- name: End windows that are over, and remove what killed tasks have left
  sunset.kube.maintenance:
    state: swept
"""

RETURN = r"""
targets:
  description:
    - Each route with its C(state) (V(enabled), V(disabled), V(exempt), V(pending) in check mode, V(failed)), the
      C(page) it shows, by which C(strategy), its C(locations) with hosts, paths and Services, the
      C(conflicts) that were kept, and the owners that are C(paused) for it.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: Ingress
      namespace: shop
      name: web
      state: enabled
      page: maintenance-3f1c09a2b7
      strategy: swap
      locations: [{hosts: [shop.example.com], paths: [/], services: [shop/web]}]
page_sets:
  description: Pages that were made, kept or removed, with namespace, name and content hash.
  returned: always
  type: list
  elements: dict
coverage:
  description:
    - Where the application can still be reached, and C(why) - by other routes to its Services or for its hosts, by
      places that were not selected or are exempt, by TCP and UDP routes, by Services of type LoadBalancer or NodePort.
      Each entry has C(kind), C(namespace), C(name), C(host), C(path), C(service) and C(why).
  returned: with O(coverage=true)
  type: list
  elements: dict
unseen:
  description: What could not be looked at, and why.
  returned: always
  type: list
  elements: str
verified:
  description: Hosts and paths that were seen behind the page.
  returned: with O(verify)
  type: list
  elements: str
swept:
  description:
    - What was removed or repaired with O(state=swept). With other states, backups and pages of the maintenance-operator
      that no route needs any more.
  returned: always
  type: list
  elements: str
maintenance_operator:
  description:
    - How the maintenance-operator of the community calls its annotations and backups, as it was understood here, with
      the suboptions of O(maintenance_operator). C(source) is V(default), V(option), or the Deployment it was read from.
  returned: always
  type: dict
  sample:
    maintenance_annotation: maintenance-operator.mithucste30.io/enabled
    maintenance_annotation_value: "true"
    backup_annotation: maintenance-operator.mithucste30.io/original-service
    backup_config_map_prefix: maintenance-backup
    source: default
counts:
  description: How many routes, by state.
  returned: always
  type: dict
plan:
  description: Each route with the operations of the patch that would be sent.
  returned: in check mode
  type: list
  elements: dict
plan_hash:
  description: Hash of the plan, for O(plan_hash).
  returned: always
  type: str
truncated:
  description: Lists that were cut to 200 entries, with their full length. The files of O(evidence_dir) are complete.
  returned: always
  type: dict
seconds:
  description: How long it took.
  returned: always
  type: float
cluster:
  description: Address of the API server.
  returned: always, unless there is none to talk to
  type: str
  sample: https://api.example.com:6443
cluster_name:
  description: The cluster as a person knows it, its context (if there is one) and its address.
  returned: always, unless there is none to talk to
  type: str
  sample: context prod (https://api.example.com:6443)
requests:
  description: How many requests were sent, by verb.
  returned: always
  type: dict
evidence:
  description: Where the files of this run are.
  returned: with O(evidence_dir)
  type: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.maintenance import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
