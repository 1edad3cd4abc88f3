# Latchkey is several modules in one workspace. The pattern `work` means all of
# them; `./...` would mean the root module alone.

FUZZTIME ?= 10s
BENCH ?= .

# `make vet` looks at the same packages, and nobody debugs these programs: a test's
# program links a third faster without what a debugger reads.
FAST := -vet=off -ldflags=-w

# The compiler collects no garbage below 800 MiB, which saves a quarter of its time.
# Not for `go test`, whose tests would run with these settings.
QUICK := GOGC=off GOMEMLIMIT=800MiB
COUNT ?= 1

# With ONCE=1 test and race compile like that too, and their programs run without these
# settings. The go command then keeps no results, which a new machine does not have.
ifdef ONCE
COMPILE := $(QUICK)
FAST += -exec 'env -u GOGC -u GOMEMLIMIT'
endif

STEPS ?= 100000

# What `make test` leaves to `make nightly`: servers that are killed or lost, every pair
# of calls, tables of others, programs of others, every language on every page. FerretDB,
# on which the tests of mongoadapter run, takes long to compile.
LATER := TestForeignSuite|TestMovedFromBetterAuth|TestMovedFromNextAuth4|TestForeignLayouts|TestAdapterOnAuthJSSchema|TestMigrateAuthJS|TestAdoptWithoutIDs
LATER := $(LATER)|TestGalera|TestPartitions|TestTwoWays|TestOddZones|TestPairs|TestThreeServers|TestClusterLosesAPrimary
LATER := $(LATER)|TestThousandCallersAtExpiry|TestNoEndedSessionComesBack|TestSignUpKilledAnywhere|TestSentinelSwitch|TestEveryLanguageFits|TestPgBouncer|TestResealTokensElsewhere|TestOnRedis|TestAuthJSLayout$$
LATERPACKAGES := /(internal/(crash|interop)|adapters/mongoadapter)$$

# Where goroutines share memory: these packages run under the race detector in CI,
# without the tests that meet there what other tests meet too, slowly: thousands of
# requests one after the other, and schedulers that let one goroutine run at a time.
SHARED := . ./users ./storage ./internal/... ./internal/sitetest ./latchkeytest/... ./adapters/kvstore ./adapters/memoryadapter
ALONE := /internal/(arch|conformance|crash|interop|realservers)(/|$$)
UNSHARED := internal/sitetest internal/page internal/oauth
RACESKIP := TestEveryOrder|TestEveryFault|TestManyOrders|TestLimitColdHerd|TestFloodsOfKeys|TestPasswordsAtRandom|TestAdapterNotices

.DEFAULT_GOAL := all

all: fmt vet lint test ## fmt, vet, lint and test: what to run before a commit

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what the tests need: a browser, database servers, npm packages
	scripts/setup

tools: ## build gofumpt, staticcheck, govulncheck and benchstat, at the versions of tools/go.mod, into .bin
	$(QUICK) GOWORK=off go -C tools build -o ../.bin/ tool

linters: ## of these tools, the two that `make lint` runs
	$(QUICK) GOWORK=off go -C tools build -o ../.bin/ mvdan.cc/gofumpt honnef.co/go/tools/cmd/staticcheck

fmt: tools ## format every Go file
	scripts/gofiles | xargs .bin/gofumpt -w

vet: ## go vet, every module
	$(QUICK) go vet work

lint: linters ## formatting, staticcheck, shell syntax, nothing private in the files
	scripts/lint

vuln: tools ## known vulnerabilities in what the modules call, each module alone
	scripts/each "$(CURDIR)/.bin/govulncheck" ./...

test: ## the tests of every module, after installing what is missing (as root)
	scripts/setup --no-sudo
	LATCHKEY_RACES=$${LATCHKEY_RACES:-2} $(COMPILE) go test $(FAST) -timeout 40m -skip '$(LATER)' $$(go list work | grep -vE '$(LATERPACKAGES)')

test-all: ## and those that take long: servers that are killed, databases and programs of others
	scripts/setup --no-sudo
	go test -timeout 60m work

# The tests that choose at random what happens: each takes STEPS steps, and prints its seed.
WALKS := TestAnswersAreThoseThatWereAskedFor|TestClientsAreApart|TestEndIsFinal|TestGuessesAtAnAccountNeverExceedTheRate|TestPrincipalsAreApart

walks: ## the property tests of docs/internals/invariants.md, at length
	LATCHKEY_WALK=$(STEPS) go test -v $(FAST) -timeout 60m -run '^($(WALKS))$$' ./internal/sitetest

guards: ## switch off one guard after the other: a test has to notice each
	LATCHKEY_GUARDS=all go test -v $(FAST) -timeout 120m -run '^TestGuards$$' ./internal/arch

race: ## the tests again under the race detector, where goroutines share memory
	@$(COMPILE) go test -race $(FAST) -timeout 40m -skip "$(LATER)|$(RACESKIP)|$$(scripts/unshared $(UNSHARED))" $$(go list $(SHARED) | grep -vE '$(ALONE)')

race-all: ## every test of every module under the race detector, which allocates by itself
	go test -race -timeout 60m -skip '^TestCostOfRoutes$$' work

fuzz: ## run each fuzz target for FUZZTIME (10s)
	scripts/fuzz $(FUZZTIME)

bench: tools ## benchmarks matching BENCH, COUNT times; feed two outputs to .bin/benchstat
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) work

demo: ## start the demo and print its URL
	@scripts/demo

react: ## build the React app of examples/react and start the Go program behind it
	scripts/front examples/react
	cd examples/react && go run .

sveltekit: ## the same for the SvelteKit app of examples/sveltekit
	scripts/front examples/sveltekit
	cd examples/sveltekit && go run .

conformance: ## drive internal/conformance with the black-box suite, where there is one
	scripts/conformance

api: ## write the lists of exported names in api/; what goes or changes is named in CHANGELOG.md first
	go test ./internal/arch -run 'TestAPI$$' -api

tidy: ## go mod tidy, every module
	scripts/each go mod tidy
	GOWORK=off go -C tools mod tidy

ci: ## everything CI runs, in its order: 20 minutes on two cores
	.ci/run

nightly: ## the whole: every module alone, every race, more orders of calls, longer fuzzing
	.ci/run nightly

.PHONY: all help setup tools linters fmt vet lint vuln test test-all walks guards race race-all fuzz bench demo react sveltekit conformance api tidy ci nightly
