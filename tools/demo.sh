#!/usr/bin/env bash
# Exports examples/two_towers.py with real torch and runs the program in a
# process that has no libtorch.
set -euo pipefail
cd "$(dirname "$0")/.."

# `import berth.executorch` finds the libraries here.
ln -sfn ../../build/release/lib python/berth/lib

out=build/demo
stamp=$out/.made
# Exported again when the exporter or the example changed.
if [[ ! -f $stamp || -n $(find python/berth examples/two_towers.py src/shim/served.inc -newer "$stamp" -name '*.[pi][yn]*' -print -quit) ]]; then
  echo "== exporting two_towers with torch (about half a minute)"
  # torch warns about its own use of its own deprecated parts.
  PYTHONWARNINGS=ignore .venv/bin/python examples/two_towers.py --out "$out"
  touch "$stamp"
fi

echo "== running it with Berth"
build/release/bin/berth run "$out/two_towers.pte" \
  --input "$out/in0.npy" --expect "$out/out0.npy" --rtol 0 --atol 1e-5 \
  --repeat 1000
build/release/bin/berth run "$out/two_towers.pte" --json \
  --input "$out/in0.npy" --expect "$out/out0.npy" --rtol 0 --atol 1e-5 |
  .venv/bin/python -c '
import json, sys
report = json.load(sys.stdin)
assert report["agrees"], "the result differs from eager"
assert not report["libtorch"], "libtorch is mapped"
assert len(set(report["libraries"])) == 2, "two delegates need two files"
assert not report["files_left"] and not report["libraries_left"], "something was left"
print("== checked: agrees with eager to 1e-5, no libtorch, two files, none left")
'
