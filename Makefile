# nearglass. `make` lists the targets; `make run` and `make test` do all the
# set-up that they need on Debian or Ubuntu, given Go.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Asked when a recipe needs it and not before: the set-up may just have
# installed what the answer depends on. See cmd/setup/tags.sh.
TAGS = $(shell QUIET=1 cmd/setup/tags.sh)
ARGS ?=
FUZZTIME ?= 60s
BENCHES := glass host link scenes loss faults

# The end-to-end tests start browsers and X servers and run one at a time. They
# build the host themselves, which the test cache does not see: -count=1.
PACKAGES = $(shell go list ./... | grep -v '/server/e2e')
E2E := ./server/e2e/...

# Two cores are enough to run this; the steps keep their order under -j too.
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: setup-run build ## set up, build, start the host; ARGS="--help" for its options
	exec build/nearglass serve $(ARGS)

.PHONY: build
build: ## build build/nearglass, with the fast libraries where they are installed
	@cmd/setup/tags.sh >/dev/null
	go build -tags '$(TAGS)' -o build/nearglass ./cmd/nearglass

.PHONY: setup-run setup-test setup-bench
setup-run:
	@cmd/setup/packages.sh run
setup-test:
	@cmd/setup/packages.sh test
setup-bench:
	@cmd/setup/packages.sh bench

# 33 minutes at most after the set-up. --foreground keeps Ctrl-C working; make
# passes the stop on to what it started.
.PHONY: test
test: setup-test ## set up and run every check and test
	@timeout --foreground --kill-after=30 33m $(MAKE) build-bare lint build-cross test-only

.PHONY: test-only
test-only: ## run every test, without set-up, checks and cross-builds
	go run ./cmd/testreport -limit 28m \
		-- go test -json -timeout 10m -tags '$(TAGS)' $(PACKAGES) \
		-- go test -json -count=1 -timeout 20m -p 1 -parallel 1 -tags '$(TAGS)' $(E2E) \
		-- go test -C server/e2e/tailnet -json -count=1 -timeout 10m .

# A module of its own: the daemon that it builds brings a hundred modules along
# and takes five minutes of processor time, the first time.
.PHONY: test-tailnet
test-tailnet: ## as root: stream over a real tailnet in namespaces, and hold the route shown to it
	go run ./cmd/testreport -limit 22m -- go test -C server/e2e/tailnet -json -count=1 -timeout 20m .

.PHONY: race
race: ## run the tests outside server/e2e under the race detector
	go run ./cmd/testreport -limit 30m \
		-- go test -json -race -timeout 20m -tags '$(TAGS)' $(PACKAGES)

# One run over three builds, so that what only one of them uses is not called
# unused.
.PHONY: lint
lint: fmt-check vet ## gofmt, go vet and staticcheck
	@echo go tool staticcheck ./...
	@printf '%s\n' 'here: -tags=$(TAGS)' 'bare: -tags=bare' 'windows: GOOS=windows CGO_ENABLED=0' \
		| go tool staticcheck -matrix ./...

.PHONY: vet
vet: ## go vet with the tags of this machine
	go vet -tags '$(TAGS)' ./...

.PHONY: fmt-check
fmt-check:
	@bad=$$(git ls-files -co --exclude-standard '*.go' | \
		while read -r file; do if [ -f "$$file" ]; then echo "$$file"; fi; done | xargs -r gofmt -l); \
	if [ -n "$$bad" ]; then echo "gofmt would change:" $$bad; exit 1; fi

# What a fresh clone gets with Go and a C compiler alone.
.PHONY: build-bare
build-bare: ## build without any tags, as `go build ./...` does
	go build ./...

CROSS := windows/amd64 windows/arm64 darwin/amd64 darwin/arm64
.PHONY: build-cross $(CROSS)
build-cross: $(CROSS) ## build and vet for Windows and macOS
$(CROSS):
	CGO_ENABLED=0 GOOS=$(@D) GOARCH=$(@F) go build ./...
	CGO_ENABLED=0 GOOS=$(@D) GOARCH=$(@F) go vet ./...

.PHONY: fuzz
fuzz: ## run every fuzz test for FUZZTIME (60s)
	@for package in $(PACKAGES); do \
		for name in $$(go test -tags '$(TAGS)' -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "+ $$package $$name"; \
			go test -tags '$(TAGS)' -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

.PHONY: bench bench-cc bench-encode bench-ramp bench-repair $(BENCHES:%=bench-%)
bench: bench-cc bench-encode bench-ramp bench-repair $(BENCHES:%=bench-%) ## run every bench; QUICK=1 for a short run of each
bench-cc: ## measure congestion control over simulated links, into build/bench
	go run -tags '$(TAGS)' ./cmd/bench cc $(ARGS)
bench-encode: ## measure the control of the encoder beside x264's own, into build/bench
	go run -tags '$(TAGS)' ./cmd/bench encode $(ARGS)
bench-ramp: ## measure the start of a stream through the real stack, into build/bench
	go run -tags '$(TAGS)' ./cmd/bench ramp $(ARGS)
bench-repair: ## measure streams with loss beside pion's default chain, into build/bench
	go run -tags '$(TAGS)' ./cmd/bench repair $(ARGS)
bench-glass: ## measure capture to glass beside other servers, into build/bench
bench-link: ## stream over shaped links beside Chromium's own sender, as root, into build/bench
bench-scenes: ## the whole path while the screen changes as a whole, beside x264's own control, as root, into build/bench
bench-loss: ## measure each way to repair losses beside Chromium's own sender, as root, into build/bench
bench-host: ## measure memory, start and CPU of the host, into build/bench
bench-faults: ## put faults into real streams and ask the doctor, as root, into build/bench
$(BENCHES:%=bench-%): setup-bench build
	go run -tags '$(TAGS)' ./cmd/bench $(@:bench-%=%) $(ARGS)

.PHONY: screenshots
screenshots: setup-test build ## take the pictures of the README anew
	go run -tags '$(TAGS)' ./cmd/screenshots

.PHONY: generate
generate: ## make anew what is made from other files: the log's types, the viewer's bundle
	go generate ./telemetry/... ./client/web/...

.PHONY: clean
clean: ## remove what the targets above made
	rm -rf build
