#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(total | cut -d" " -f2)" '$1.0000' cost
end
