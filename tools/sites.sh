#!/usr/bin/env bash
# Builds the sites of tests/sites with the real generators into build/sites/out, with the element's files of build/site in each.
#   tools/sites.sh [plain] [mkdocs] [sphinx] [docusaurus]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
site=$PWD/build/site
work=$PWD/build/sites
files=(memory-ledger.js ledger.mjs ledger.wasm embed.html embed.css frame.js parent.js)
mkdir -p "$work/out"

bring() {  # FOLDER
  mkdir -p "$1"
  cp "${files[@]/#/$site/}" "$1"
}
source_of() {  # NAME: a copy of its sources, to build in
  mkdir -p "$work/$1"
  cp -R "tests/sites/$1/." "$work/$1"
}
generators() {
  [ -x "$work/venv/bin/pip" ] || python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r tests/sites/requirements.txt
}

plain() {
  rm -rf "$work/out/plain"
  cp -R tests/sites/plain "$work/out/plain"
  bring "$work/out/plain"
}
mkdocs() {
  generators
  source_of mkdocs
  bring "$work/mkdocs/docs"
  "$work/venv/bin/mkdocs" build --quiet --config-file "$work/mkdocs/mkdocs.yml" --site-dir "$work/out/mkdocs"
}
sphinx() {
  generators
  source_of sphinx
  bring "$work/sphinx/_static"
  "$work/venv/bin/sphinx-build" -q -W "$work/sphinx" "$work/out/sphinx"
}
docusaurus() {
  source_of docusaurus
  bring "$work/docusaurus/static"
  # Its telemetry and its question for updates are no part of a build.
  export DO_NOT_TRACK=1 NO_UPDATE_NOTIFIER=1
  (
    cd "$work/docusaurus"
    npm install --no-fund --no-audit --no-package-lock --loglevel=error
    npm run --silent build -- --out-dir "$work/out/docusaurus"
  )
}

for name in "${@:-plain mkdocs sphinx docusaurus}"; do
  for one in $name; do
    echo "building the site of $one"
    "$one"
  done
done
