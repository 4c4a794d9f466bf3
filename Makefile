# Larder. `make help` lists what there is to do.
SHELL := /bin/bash
.DEFAULT_GOAL := help

export CGO_ENABLED ?= 0

# The engine's npm package is named after the machine it is for. Where package-lock.json
# has no hash of it, ENGINE_INTEGRITY gives one.
OS        := $(shell uname -s | tr '[:upper:]' '[:lower:]')
ARCH      := $(shell uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
LIBC      := $(if $(filter linux,$(OS)),-gnu)
ENGINE    := @chdb/lib-$(OS)-$(ARCH)$(LIBC)
ENGINE_VERSION = $(shell sed -n 's/.*"@chdb\/lib-linux-x64-gnu": "\(.*\)".*/\1/p' package.json)
LIBCHDB   := node_modules/$(ENGINE)/libchdb.so
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
# The tags of the tests that need a program beside Go. Every command has the same ones, so that
# each package is compiled once. go vet checks all of them, so go test repeats no part of that.
TAGS      := browser,promtool,systemd,javascript
CODE      := cmd config dashboards deploy docs internal sinks syncer
LINT      := go tool -modfile=.ci/lint/go.mod golangci-lint

# need(tool, what to install) stops with the name of what is missing.
need = @command -v $(1) >/dev/null || { echo "make: $(1) is missing: install $(2), then run make again" >&2; exit 1; }

.PHONY: help
help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.PHONY: demo
demo: build ## Set everything up and run the whole of Larder on invented restaurants
	bin/larder demo $(DEMO)

.PHONY: build
build: engine ## Build bin/larder, with the engine beside it
	$(call need,go,Go 1.26 or newer (https://go.dev/dl))
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/larder ./cmd/larder
	@ln -f $(LIBCHDB) bin/libchdb.so 2>/dev/null || cp -f $(LIBCHDB) bin/libchdb.so

.PHONY: engine
engine: node_modules/.engine ## Fetch the embedded ClickHouse engine through npm (pinned)

node_modules/.engine: package.json package-lock.json
	$(call need,node,Node.js 20 or newer (https://nodejs.org))
	$(call need,npm,npm (it comes with Node.js: https://nodejs.org))
	@echo "fetching the embedded engine $(ENGINE)@$(ENGINE_VERSION) (about 170 MB to download, 570 MB on disk)"
	@if grep -q '"node_modules/$(ENGINE)"' package-lock.json; then npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; \
	else .ci/engine '$(ENGINE)' '$(ENGINE_VERSION)' '$(ENGINE_INTEGRITY)'; fi
	@test -f $(LIBCHDB) || { echo "make: npm brought no $(LIBCHDB): there may be no engine for $(OS)-$(ARCH)" >&2; exit 1; }
	@touch $@

.PHONY: test
test: engine browser promtool systemd javascript ## Set everything up and run the tests, those in a browser included
	$(call need,go,Go 1.26 or newer (https://go.dev/dl))
	go vet -tags $(TAGS),long ./...
	$(IN_MEMORY) go test -p 5 -vet=off -tags $(TAGS) -timeout 30m $(LONGEST) ./...

# Tests for rare faults (hundreds of seeds, kills and attacks, a hundred restaurants
# on every panel, the costs of a fleet) are in files of their own, tagged long.
LONG_FILES = $(shell grep -rlE --include=*_test.go '^//go:build .*\blong\b' $(CODE))
LONG_TESTS = $(shell sed -nE 's/^func (Test[A-Za-z0-9_]+).*/\1/p' $(LONG_FILES))
empty :=
space := $(empty) $(empty)

.PHONY: test-all
test-all: test long ## Run every test, and then those for rare faults

.PHONY: long
long: engine
	$(MAKE) --no-print-directory -j 2 long-syncer long-others

LONG     = $(IN_MEMORY) go test -vet=off -tags $(TAGS),long -timeout 30m -run '^($(subst $(space),|,$(strip $(LONG_TESTS))))$$'
.PHONY: long-syncer long-others
long-syncer:
	$(LONG) ./syncer
long-others:
	$(LONG) -p 2 $(filter-out ./syncer/,$(sort $(dir $(LONG_FILES:%=./%))))

# The packages whose tests take longest begin first: the last one of all would run alone,
# on one processor.
LONGEST = ./syncer ./internal/app ./sinks/engine/server ./sinks/clickhouse ./cmd/larder ./internal/cookbook

# Where there is much memory, the tests' folders are in it: engines that wait for the disk after
# every INSERT wait a fifth less. (t.TempDir follows GOTMPDIR where that is set, so it is not.)
IN_MEMORY = $(shell [ -z "$$TMPDIR" ] && [ "$$(df -k --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 12000000 ] 2>/dev/null && echo TMPDIR=/dev/shm)

# Most machines have a browser; on Debian and Ubuntu, root gets one by itself.
.PHONY: browser
browser:
	@.ci/browser

.PHONY: promtool
promtool:
	@.ci/promtool

.PHONY: systemd
systemd:
	@.ci/systemd

.PHONY: javascript
javascript: .ci/javascript/node_modules/.clients

.ci/javascript/node_modules/.clients: .ci/javascript/package.json .ci/javascript/package-lock.json
	@echo "fetching JavaScript clients for the tests (about 150 MB on disk)"
	@cd .ci/javascript && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: lint
lint: ## Run the linters, layer rules and package docs included
	$(LINT) run --build-tags $(TAGS),long
	.ci/package-docs

# A seed that fails is played again with
#   go test ./syncer -run TestSimulation -seed N
SOAK ?= 10m
.PHONY: soak
soak: ## Simulate months of operation with everything going wrong, for SOAK=10m
	$(call need,go,Go 1.26 or newer (https://go.dev/dl))
	@set -o pipefail; go test ./syncer -run TestSimulation -soak $(SOAK) -timeout 0 -v | { grep -vE '^ *(=== (RUN|PAUSE|CONT)|--- PASS)' || true; }

.PHONY: race
race: engine ## Run the tests with the race detector (needs a C compiler)
	$(call need,cc,a C compiler such as gcc (the race detector needs one))
	$(MAKE) --no-print-directory -j 2 race-bubbles race-others

.PHONY: race-bubbles race-others
race-bubbles:
	CGO_ENABLED=1 $(IN_MEMORY) go test -p 2 -vet=off -race -short -timeout 30m -cpu 1 $(BUBBLES:%=./%)
race-others:
	CGO_ENABLED=1 $(IN_MEMORY) go test -p 2 -vet=off -race -short -timeout 30m $$(go list ./... | grep -vxF "$$(go list $(BUBBLES:%=./%))")

# Tests that are slow under the detector, and in which nothing of ours runs side by side, skip
# themselves with -short. In simulated time (testing/synctest) tests run on one processor: Go's
# runtime lets timers that fire at once use one context of the detector, which then ends the
# process now and then. What the detector finds does not depend on it.
BUBBLES     = syncer $(filter-out syncer,$(sort $(shell grep -rl --include=*_test.go testing/synctest $(CODE) | xargs -n 1 dirname)))

# Where a change is meant to take more of something, or takes less, FLEET=-update writes down what it takes.
.PHONY: fleet
fleet: engine ## Count what 200 restaurants take, and fail where it has become more
	$(IN_MEMORY) go test -vet=off -tags long -run 'TestFleet$$' ./syncer $(FLEET)

.PHONY: docs
docs: build ## Write the generated documents anew (data dictionary, configuration, notices, dashboards, the answers of the cookbook)
	go run ./internal/gendocs
	go test ./config -run Reference -update
	go test ./internal/cookbook -update
	go run ./dashboards/generate

.PHONY: bench
bench: build ## Run the benchmarks that docs/benchmarks.md reports
	go run ./internal/bench $(BENCH)

.PHONY: clean
clean: ## Remove what was built and fetched, and the demo's data
	rm -rf bin node_modules .ci/javascript/node_modules larder-demo
