#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(total | cut -d" " -f2)" '$0.0500' cost
end
