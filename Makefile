# Latchkey is several modules in one workspace. The pattern `work` means all of
# them; `./...` would mean the root module alone.

FUZZTIME ?= 10s
BENCH ?= .
COUNT ?= 1

# What the race detector adds nothing to: packages that drive programs written
# elsewhere, and programs whose concurrency is all in the packages they call.
NORACE := /(cmd|demo|examples|internal/(arch|conformance|interop))(/|$$)

# And tests that meet under it what other tests meet too, slowly: the same suite
# on tables of others, programs written elsewhere, processes that are killed,
# schedulers that let one goroutine run at a time, and one request after the other,
# thousands of them.
RACESKIP := TestForeignSuite|TestAdapterOnAuthJSSchema|TestMigrateAuthJS|TestPartitions|TestTwoWays|TestGalera|TestPgBouncer|TestKill$$
RACESKIP := $(RACESKIP)|TestEveryOrder|TestEveryFault|TestManyOrders|TestPairs
RACESKIP := $(RACESKIP)|TestRedirectCorpus|TestPagesReflectNothing|TestFloodsOfKeys
RACESKIP := $(RACESKIP)|TestHostileStrings|TestHostFixed|TestIDToken$$|TestCSRF

# Examples that do several things at once.
CONCURRENT := api fiber gqlgen grpc htmx

.DEFAULT_GOAL := all

all: fmt vet lint test ## fmt, vet, lint and test: what to run before a commit

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what the tests need: a browser, database servers, npm packages
	scripts/setup

tools: ## build gofumpt, staticcheck, govulncheck and benchstat, at the versions of tools/go.mod, into .bin
	GOWORK=off go -C tools build -o ../.bin/ tool

fmt: tools ## format every Go file
	scripts/gofiles | xargs .bin/gofumpt -w

vet: ## go vet, every module
	go vet work

lint: tools ## formatting, staticcheck, shell syntax, nothing private in the files
	scripts/lint

vuln: tools ## known vulnerabilities in what the modules call, each module alone
	scripts/each "$(CURDIR)/.bin/govulncheck" ./...

test: ## every test of every module, after installing what is missing (as root)
	scripts/setup --no-sudo
	go test -timeout 20m work

race: ## the tests again under the race detector
	go test -race -timeout 30m -skip '$(RACESKIP)' $$(go list work | grep -vE '$(NORACE)') $(addprefix ./examples/,$(CONCURRENT))

fuzz: ## run each fuzz target for FUZZTIME (10s)
	scripts/fuzz $(FUZZTIME)

bench: tools ## benchmarks matching BENCH, COUNT times; feed two outputs to .bin/benchstat
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) work

demo: ## start the demo and print its URL
	go run ./demo

react: ## build the React app of examples/react and start the Go program behind it
	scripts/front examples/react
	cd examples/react && go run .

sveltekit: ## the same for the SvelteKit app of examples/sveltekit
	scripts/front examples/sveltekit
	cd examples/sveltekit && go run .

conformance: ## drive internal/conformance with the black-box suite, where there is one
	scripts/conformance

tidy: ## go mod tidy, every module
	scripts/each go mod tidy
	GOWORK=off go -C tools mod tidy

ci: ## everything CI runs, in its order
	.ci/run

.PHONY: all help setup tools fmt vet lint vuln test race fuzz bench demo react sveltekit conformance tidy ci
