#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs list | has "kinkajou screenshot" title
bs search kinkajou 2>&1 | hasnot "No matches" search
end
