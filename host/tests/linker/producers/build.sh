#!/bin/sh
# Builds the committed core modules. Needs Debian 12's clang and lld, and npm for AssemblyScript, which is not a dependency.
set -eu
cd "$(dirname "$0")"
clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all c.c -o c.wasm
chmod 644 c.wasm
folder="$(mktemp -d)"
cp assemblyscript.as "$folder/module.ts"
npm install --silent --no-save --prefix "$folder" assemblyscript@0.28.20
(cd "$folder" && node_modules/.bin/asc module.ts -O3 --runtime stub --use abort= --outFile module.wasm)
cp "$folder/module.wasm" assemblyscript.wasm
rm -r "$folder"
