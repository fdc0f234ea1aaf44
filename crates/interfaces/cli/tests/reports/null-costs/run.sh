#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(total | cut -d" " -f1)" 1000/10/0/0 tokens
end
