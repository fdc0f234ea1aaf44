#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs search marmoset 2>&1 | hasnot "No matches" search
bs show 2b00000c-0000-4000-8000-000000000001 | has "marmoset palette" show
end
