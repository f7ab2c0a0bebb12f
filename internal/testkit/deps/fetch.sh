#!/usr/bin/env bash
# Brings what the tests need beside Go into .deps/ (or $EVENKEEL_DEPS), by the
# ordinary package clients: Cassandra's jars, those of the Java driver and of the AWS
# SDK for Java (Maven); cqlsh, the Python driver, boto3, PynamoDB and the AWS CLI (pip,
# in venvs); the Node driver, the AWS SDK for JavaScript, ElectroDB and dynalite (npm).
# A part that is there already, as its manifest says, is not fetched again.
#
# The tools themselves (a JDK 17, Maven, Python 3, Node, Chromium) are installed by apt-get
# where the user is root on a Debian; elsewhere the script says what is missing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
deps=${EVENKEEL_DEPS:-$root/.deps}
mkdir -p "$deps"

say() { printf 'deps: %s\n' "$*" >&2; }

# Two runs at once would write the same files.
if command -v flock >/dev/null; then
  exec 9>"$deps/lock"
  flock 9
fi

# ---- tools ------------------------------------------------------------------

java17() {
  local java
  for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} java /usr/lib/jvm/*17*/bin/java \
    /Library/Java/JavaVirtualMachines/*17*/Contents/Home/bin/java /opt/homebrew/opt/openjdk@17/bin/java; do
    "$java" -version 2>&1 | grep -q 'version "17[."]' && return 0
  done
  return 1
}
venv() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }
has() { command -v "$1" >/dev/null; }
browser() { [ -n "${CHROMIUM:-}" ] || has chromium || has chromium-browser || has chromium-headless-shell || has google-chrome || has google-chrome-stable || [ -d '/Applications/Google Chrome.app' ] || [ -d /Applications/Chromium.app ]; }
node18() { has npm && has node && node -e 'process.exit(process.versions.node.split(".")[0] < 18 ? 1 : 0)'; }

missing=() packages=()
java17 || { missing+=('Java 17 (a JRE; set JAVA_HOME where it is not the default)'); packages+=(openjdk-17-jre-headless); }
has mvn || { missing+=('Maven (the mvn command)'); packages+=(maven); }
venv || { missing+=('Python 3.9 or later with venv'); packages+=(python3 python3-venv); }
node18 || { missing+=('Node 18 or later with npm'); packages+=(nodejs npm); }
browser || { missing+=('Chromium (set CHROMIUM where it has another name)'); packages+=(chromium); }

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && has apt-get; then
    say "installing by apt-get: ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update >&2 || true # an old list may do
    apt-get -qq install -y --no-install-recommends "${packages[@]}" </dev/null >"$deps/apt.log" 2>&1 || {
      tail -n 20 "$deps/apt.log" >&2
      say "apt-get install failed; needed: ${packages[*]}"
      exit 1
    }
  else
    say 'the tests need these, and this user may not install them:'
    for m in "${missing[@]}"; do say "  - $m"; done
    say "on Debian or Ubuntu: sudo apt-get install ${packages[*]}"
    exit 1
  fi
fi

# ---- parts --------------------------------------------------------------------

# part NAME MANIFEST… -- COMMAND…: runs COMMAND unless it has already run for these manifests.
part() {
  local name=$1 stamp=$deps/$1.stamp manifests=() sum begun
  shift
  while [ "$1" != -- ]; do manifests+=("$1"); shift; done
  shift
  sum=$(cat "${manifests[@]}" | cksum)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then return 0; fi
  say "$name …"
  begun=$SECONDS
  if ! "$@" </dev/null >"$deps/$name.log" 2>&1; then
    tail -n 30 "$deps/$name.log" >&2
    say "$name failed; the whole output is in $deps/$name.log"
    exit 1
  fi
  printf '%s\n' "$sum" >"$stamp"
  say "$name: $((SECONDS - begun)) s"
}

# jars POM DIRECTORY: the runtime dependencies of a pom.
jars() {
  rm -rf "$2"
  mvn -B -q -f "$1" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$2"
}

# python_venv REQUIREMENTS DIRECTORY: a venv with these.
python_venv() {
  rm -rf "$2"
  python3 -m venv "$2"
  # The driver's optional C parts take minutes to build and change nothing here.
  CASS_DRIVER_NO_EXTENSIONS=1 "$2/bin/pip" install --quiet --prefer-binary -r "$1"
}

# node_modules MANIFEST DIRECTORY: the packages of a package.json.
node_modules() {
  rm -rf "$2"
  mkdir -p "$2"
  cp "$1" "$2/"
  (cd "$2" && npm install --no-audit --no-fund --no-update-notifier --no-package-lock --loglevel=error)
}

testkit=internal/testkit drivers=internal/drivers
part cassandra "$testkit/cassandra/pom.xml" -- jars "$testkit/cassandra/pom.xml" "$deps/cassandra"
part venv "$testkit/deps/requirements.txt" -- python_venv "$testkit/deps/requirements.txt" "$deps/venv"
part boto3 "$drivers/boto3/requirements.txt" -- python_venv "$drivers/boto3/requirements.txt" "$deps/boto3"
part java "$drivers/java/pom.xml" -- jars "$drivers/java/pom.xml" "$deps/java"
part aws-java "$drivers/dynamodb/pom.xml" -- jars "$drivers/dynamodb/pom.xml" "$deps/aws-java"
part node "$drivers/node/package.json" -- node_modules "$drivers/node/package.json" "$deps/node"
part aws-js "$drivers/dynamodb/package.json" -- node_modules "$drivers/dynamodb/package.json" "$deps/aws-js"
part dynalite "$testkit/dynalite/package.json" -- node_modules "$testkit/dynalite/package.json" "$deps/dynalite"
