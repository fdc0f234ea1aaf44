#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs cost --by model 2>&1 | hasnot "synthetic" "cost --by model"
bs cost 2>&1 | hasnot "without a known price" cost
end
