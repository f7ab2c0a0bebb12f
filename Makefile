# The targets that people type. Everything that tests need beside Go is brought
# into .deps/ by `make deps`, which `make test` calls.

GO       ?= go
FUZZTIME ?= 20s
SOAKTIME ?= 1h
# How long each class of attacks lasts.
ATTACKTIME ?= 2m
# How long CI looks for failures with fresh seeds.
LOOKTIME ?= 2m
# After this time the tests of a package hang. The slowest package takes eight minutes on two
# idle cores, and forty on two very busy ones.
HUNG     = 60m
# `make lint` vets all packages.
TEST     = $(GO) test -vet=off -timeout $(HUNG)

# Each package with what its tests import. Those that name no foreign engine and no
# browser need nothing but Go; those that name Cassandra share one, so they run one
# at a time.
TESTED     = $(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./...
HERMETIC   = $$($(TESTED) | awk '!/testkit\/(cassandra|dynalite|chromium)/ {print $$1}')
# Those among them in which a goroutine starts. In pure packages none does, unless in their tests; nor in two of the tests' own.
RACED      = $$(for p in $(HERMETIC); do d=$${p\#*/*/*/}; printf '%s\n' internal/lint internal/testkit/drawn | cat - internal/lint/pure.txt | grep -qx "$$d" && ! grep -qE '^\s*go (func|[A-Za-z.]+)\(|\.Go\(' $$d/*.go || echo $$p; done)
ALONE      = $$($(TESTED) | awk '!/testkit\/cassandra/ {print $$1}')
CASSANDRA  = $$($(TESTED) | awk '/testkit\/cassandra/ && $$1 !~ /\/(catalog|cqldoor|cqldoor\/run)$$/ {print $$1}')
# In these packages the tests in front of a real Cassandra run under the race detector, except UNRACED: tests that
# measure memory or count allocations, which the detector changes (a sync.Pool drops values at random); tests that take many
# minutes under it; and a test whose short leases end under it.
RACEDSTORE = ./catalog ./cqldoor ./cqldoor/run
UNRACED    = ^(TestHistories(|AcrossPlain|AcrossTime|AcrossRollover)|TestInOf(Rows|Prefixes|Partitions)|TestNarrow|TestTokenRanges|TestLargeRows|TestMadeValues|TestMemoryOverAllRequests|TestTimeInAFleet|TestExecuteThroughADoorAllocatesNothing)$$
WITH       = $(GO) run ./internal/testkit/cmd/with-cassandra
STATIC     = $(GO) tool -modfile=internal/lint/tools/go.mod

.PHONY: help build check test test-alone test-cassandra test-apps test-ring race race-alone race-cassandra soak attack diff-dynamodb-local bench-cql bench-ring bench-dynamodb bench-reshard bench-workbench bench-index score-advice prove-advice explore-reshard kill-reshard deps lint vulncheck fuzz clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile

build: ## bin/evenkeel
	$(GO) build -o bin/evenkeel ./cmd/evenkeel

check: ## the tests that need nothing but Go: no network, no other engine, and of the explorations a part
	$(TEST) -short $(HERMETIC)

# The tests in front of Cassandra wait for most of the time. So the tests that need none run beside them.
test: deps lint ## everything, against a real Cassandra, cqlsh and the drivers
	$(MAKE) --no-print-directory -j 2 test-alone test-cassandra

test-alone:
	$(TEST) -p 1 $(ALONE)
	$(MAKE) --no-print-directory race-alone
	$(GO) test -modfile=internal/promrules/module/go.mod internal/promrules/rules_test.go

test-cassandra:
	$(WITH) $(TEST) -p 1 $(CASSANDRA)
	$(WITH) $(TEST) -run '$(UNRACED)' ./cqldoor/run
	$(MAKE) --no-print-directory race-cassandra
	$(WITH) $(GO) run ./internal/testkit/cmd/soak -for $(LOOKTIME) -report

race: race-alone race-cassandra ## the tests under the race detector, the CQL door in front of a real Cassandra among them

# Properties are tried with fewer cases (-short): the detector needs each line to run, not each value.
race-alone:
	$(TEST) -race -short -p 1 $(RACED)

race-cassandra:
	$(WITH) $(TEST) -race -p 1 -skip '$(UNRACED)' $(RACEDSTORE)

test-apps: deps build ## the storage tests of real applications, on the stores and on evenkeel; APPS chooses, UPDATE=yes writes docs/applications.md
	$(GO) build -o bin/apps ./internal/apps
	bin/apps -evenkeel bin/evenkeel $(if $(UPDATE),-update) $(APPSFLAGS) $(APPS)

test-ring: deps ## a door in front of three Cassandra nodes under load: killed, paused, joined, decommissioned
	$(GO) test -count 1 -timeout $(HUNG) -v -run '^TestRing$$' ./internal/ringtest -args -ring.full

soak: deps ## property tests with fresh seeds for SOAKTIME (1h)
	$(WITH) $(GO) run ./internal/testkit/cmd/soak -for $(SOAKTIME)

attack: deps build ## random attacks on a running evenkeel for ATTACKTIME (2m) a class; CLASSES chooses, SEED repeats
	$(GO) build -o bin/attack ./internal/attack
	$(WITH) bin/attack -evenkeel bin/evenkeel -for $(ATTACKTIME) -seed $(or $(SEED),0) $(CLASSES)

diff-dynamodb-local: ## the DynamoDB engine against DynamoDB Local, for those who accept its licence
	@[ "$(ACCEPT_LICENCE)" = yes ] || { echo 'DynamoDB Local has a licence of its own: the "Amazon DynamoDB Local License Agreement", in the documentation of DynamoDB.' >&2; \
	  echo 'If you accept it: make diff-dynamodb-local ACCEPT_LICENCE=yes' >&2; exit 1; }
	@[ -d .deps/dynamodb-local ] || mvn -B -q -f internal/testkit/dynamodblocal/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/.deps/dynamodb-local"
	$(GO) test -tags dynamodblocal -count 1 ./internal/dynamodiff -run OnDynamoDBLocal -rapid.checks=500

bench-cql: deps build ## the CQL door and the engine against their peers: ratios
	cd internal/bench/cqlproxy && $(GO) build -o ../../../bin/cql-proxy github.com/datastax/cql-proxy
	$(GO) build -o bin/bench-cql ./internal/bench/cql
	$(GO) run ./internal/testkit/cmd/with-cassandra bin/bench-cql -evenkeel bin/evenkeel -cql-proxy bin/cql-proxy $(BENCHFLAGS)

bench-ring: deps build ## doors in front of three Cassandra nodes: token-aware against any node, hedges against none
	$(GO) build -o bin/bench-cql ./internal/bench/cql
	bin/bench-cql -ring -evenkeel bin/evenkeel $(BENCHFLAGS)

bench-dynamodb: deps build ## the DynamoDB door and the engine against their peers: ratios
	$(GO) build -o bin/bench-dynamodb ./internal/bench/dynamodb
	bin/bench-dynamodb -evenkeel bin/evenkeel -dynalite .deps/dynalite/node_modules/dynalite/cli.js $(BENCHFLAGS)

bench-reshard: build ## what clients notice while a layout changes; BENCHFLAGS="-cassandra HOST:PORT" in front of Cassandra
	$(GO) build -o bin/bench-reshard ./internal/bench/reshard
	bin/bench-reshard -evenkeel bin/evenkeel $(BENCHFLAGS)

bench-index: deps ## what a storage-attached index costs a node of Cassandra: CPU of a write and of a query
	$(GO) build -o bin/bench-index ./internal/bench/index
	$(GO) run ./internal/testkit/cmd/with-cassandra bin/bench-index $(BENCHFLAGS)

bench-workbench: .deps/duckdb.stamp ## the workbench's reading against DuckDB: ratios
	$(GO) build -o bin/bench-workbench ./internal/bench/workbench
	bin/bench-workbench -python .deps/duckdb/bin/python $(BENCHFLAGS)

.deps/duckdb.stamp: internal/bench/workbench/requirements.txt
	rm -rf .deps/duckdb
	python3 -m venv .deps/duckdb
	.deps/duckdb/bin/pip install --quiet -r $<
	touch $@

score-advice: ## advice held to the truth of sets drawn from a fresh seed: points of a hundred
	$(GO) test ./workbench/advice -count 1 -run '^TestDrawn$$' -v -args -drawn.seed=$(or $(SEED),0) -drawn.sets=$(or $(SETS),24)

prove-advice: ## what is advised, built on the engine with the store's limits on, and filled with its rows at the stated rate: predicted beside measured
	$(GO) test ./cmd/evenkeel -count 1 -timeout $(HUNG) -run '^TestProve(Advice|Keys|Rows|Units)$$' -v -args -prove.seed=$(or $(SEED),0) -prove.sets=$(or $(SETS),20)

kill-reshard: ## 500 kill -9 of a door at random points of random changes of layout; SEED repeats; ITEMS of one plain table, and ROWS of another, that are sharded under load, and made plain; three doors that are killed and stopped while a table changes, for DOORSTIME (10m) on each store; conditional writes across 60 changes, held to porcupine
	$(GO) test ./cmd/evenkeel -count 1 -timeout 1h -run '^(TestKilledWhileChanging|TestItemsWhileKilled|TestManyItemsWhileKilled|TestManyRowsWhileKilled)$$' -v -args -reshard.kills=500 -reshard.seed=$(or $(SEED),1) -reshard.items=$(or $(ITEMS),100000) -reshard.rows=$(or $(ROWS),100000)
	for on in false true; do $(GO) test ./cmd/evenkeel -count 1 -timeout 2h -run '^TestDoorsKilledWhileChanging$$' -v -args -reshard.doors=$(or $(DOORSTIME),10m) -reshard.cassandra=$$on -reshard.seed=$(or $(SEED),1) || exit 1; done
	$(GO) test ./cqldoor/run -count 1 -timeout 1h -run '^TestLinearAcrossChanges$$' -v -args -linear.changes=60 -linear.seed=$(or $(SEED),1)

explore-reshard: ## every scene of two operations of the protocol of changes of layout: many minutes
	$(GO) test ./reshard -count 1 -timeout 4h -run '^TestAllScenes$$' -v -args -reshard.sweep

deps: ## what the tests need beside Go, into .deps/
	@internal/testkit/deps/fetch.sh

lint: ## gofmt, go vet, go mod tidy, staticcheck
	@bad=$$("$$($(GO) env GOROOT)/bin/gofmt" -l $$($(GO) list -f '{{.Dir}}' ./...)); \
	  if [ -n "$$bad" ]; then printf 'not as gofmt writes it:\n%s\n' "$$bad" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(STATIC) staticcheck ./...

vulncheck: ## known vulnerabilities in what is linked; asks Go's database of them
	$(STATIC) govulncheck ./cmd/evenkeel

fuzz: ## every fuzz target for FUZZTIME (20s)
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u | while read -r dir; do \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -c 6-); do \
	    echo "$$dir $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) "$$dir" </dev/null || exit 1; \
	  done; \
	done

clean: ## remove bin/ and .deps/
	rm -rf bin .deps
