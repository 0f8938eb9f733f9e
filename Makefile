# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Every target installs what it needs by itself: tools into a cache outside the checkout, the built collection into .work.
# More arguments: make unit ARGS="-k plan -x", make lint CHECKS="style types".

PYTHON ?= python3
ARGS ?=
CHECKS ?=
INSIDE = @$(PYTHON) scripts/inside.py

# The operator's image and where it goes. BUILDER: podman, buildah or docker. RIGHTS: folders of operator/config/rights.
VERSION = $(shell sed -n 's/^version: *//p' galaxy.yml)
PUBLISHED = ghcr.io/sunset-kube/operator
IMAGE ?= $(PUBLISHED):$(VERSION)
BUILDER ?= podman
BUILD_OPTIONS ?=
RIGHTS ?=

.DEFAULT_GOAL := help
.PHONY: help demo quick test test-rest test-all lint sanity-all unit integration lab-up lab-down bench docs build clean \
  operator-image operator-manifests operator-deploy operator-undeploy

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## see it work on a real control plane on this machine
	@echo "demo: starts a control plane and takes things out of it (1 minute; the first time also builds the lab's tools)"
	$(INSIDE) demo/run.sh $(ARGS)

quick: ## unit tests and lint (2 minutes)
	@$(PYTHON) scripts/run_tests.py quick

test: ## the same, and the quick third of the integration tests on a real API server (7 minutes; the first time 12)
	@$(PYTHON) scripts/run_tests.py test

test-rest: ## what make test leaves out: the other integration tests, a real node, the network, sanity (20 minutes)
	@$(PYTHON) scripts/run_tests.py rest

test-all: ## everything, each test once (25 minutes; the first time 60)
	@$(PYTHON) scripts/run_tests.py all

lint: ## all checks that read the code and the tarball; formats the code, unless CI=true (90 s)
	@echo "lint: the default sessions of noxfile.py (90 s; the first time 4 minutes)"
	$(INSIDE) nox -R $(if $(CHECKS),-s $(CHECKS))

sanity-all: ## ansible-test sanity on the checkout, with every Python found here that modules must load on (8 minutes)
	$(INSIDE) nox -s sanity-all

unit: ## unit tests against the built collection (20 s)
	@echo "unit: pytest tests/unit against the built collection (20 s)"
	$(INSIDE) python -m pytest tests/unit $(ARGS)

integration: ## tests on a real control plane (20 minutes; needs Go 1.26 or newer)
	@echo "integration: pytest tests/integration on a real control plane (20 minutes; the first time also builds the lab's tools)"
	$(INSIDE) python -m pytest tests/integration $(ARGS)

lab-up: ## start a control plane to try things on, and leave it running
	@echo "lab-up: starts a control plane (10 s; the first time also builds its tools, about 8 minutes)"
	$(INSIDE) python -m lab up $(ARGS)

lab-down: ## stop it
	@echo "lab-down: stops the control plane (2 s)"
	$(INSIDE) python -m lab down $(ARGS)

bench: ## measure: tasks, objects and requests per second
	@echo "bench: measures on a real control plane (some minutes)"
	$(INSIDE) python -m benchmarks $(ARGS)

docs: ## render the documentation as HTML
	@echo "docs: renders modules and guides (10 s)"
	$(INSIDE) scripts/docs.sh

build: ## make dist/sunset-kube-<version>.tar.gz and install it below .work
	@$(PYTHON) scripts/artefact.py

operator-image: build ## the operator's image: IMAGE=registry/name:tag BUILDER=podman|buildah|docker (1 minute)
	$(BUILDER) build --file operator/Containerfile --build-arg VERSION=$(VERSION) --tag $(IMAGE) $(BUILD_OPTIONS) .

operator-manifests: ## write the operator's definitions, rights and bundle anew, after a change of what they are made from
	$(INSIDE) python scripts/operator_crds.py
	$(INSIDE) python scripts/operator_admission.py
	$(INSIDE) python scripts/operator_rbac.py
	$(INSIDE) python scripts/operator_bundle.py

operator-deploy: ## the operator into the current context: IMAGE=... RIGHTS="uninstall drain-ngrok"
	@kubectl kustomize operator/config/default | sed 's|image: $(PUBLISHED):.*|image: $(IMAGE)|' | kubectl apply --server-side -f -
	@for right in $(RIGHTS); do kubectl apply --server-side -k operator/config/rights/$$right || exit 1; done
	@kubectl --namespace sunset-system rollout status deployment/sunset-operator --timeout 180s

operator-undeploy: ## take it away again, unless something still waits for it; resources of its kinds go, too
	@sh operator/held.sh
	@kubectl delete --ignore-not-found -k operator/config/default
	@kubectl delete --ignore-not-found -k operator/config/rights

clean: ## remove what was built here (tools stay in the cache for the next time)
	@rm -rf .work dist .ansible .mypy_cache .pytest_cache .ruff_cache .hypothesis collections tests/output
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
	@echo "clean: done"
