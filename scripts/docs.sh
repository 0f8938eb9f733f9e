#!/usr/bin/env bash
# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Renders modules, roles and guides: reStructuredText first, then HTML. Run through scripts/inside.py.
set -euo pipefail

out=.work/docs
rm -rf "$out"
mkdir -p "$out/rst"
antsibull-docs collection --use-current --squash-hierarchy --fail-on-error \
    --dest-dir "$out/rst" sunset.kube
cp -r docs/docsite/rst/pictures "$out/rst/docsite/"  # antsibull-docs takes only the texts along
# No conf.py: the few settings are here. Labels of Ansible's own documentation are unknown offline, hence the silence about them;
# our own references are checked by the lint check "docs".
python -m sphinx -q -C -b html \
    -D project=sunset.kube -D root_doc=index -D extensions=sphinx_antsibull_ext -D html_theme=alabaster -D pygments_style=sphinx -D html_copy_source=0 \
    -D html_theme_options.page_width=1240px -D html_theme_options.body_max_width=none \
    -D suppress_warnings=ref.ref \
    "$out/rst" "$out/html"
echo "docs: open $out/html/index.html"
