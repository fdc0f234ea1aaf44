#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000007-0000-4000-8000-000000000001 | has "two: echidna index" show
bs show 2b000007-0000-4000-8000-000000000001 | has "three: echidna links" show
bs show 2b000007-0000-4000-8000-000000000001 | has "four: echidna css" show
end
