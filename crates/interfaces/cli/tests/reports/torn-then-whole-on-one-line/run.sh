#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000003-0000-4000-8000-000000000001 | has "dunnart form built" after
bs show 2b000003-0000-4000-8000-000000000001 | has "build the dunnart form" "record behind the torn one"
end
