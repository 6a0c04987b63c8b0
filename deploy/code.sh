#!/bin/bash
# Start the head of a Ray cluster without work of its own, then Dagster's code server, whose runs are its drivers:
# a driver needs a node of the cluster beside it.
set -euo pipefail
ray start --head --node-ip-address="$TEAM_ADDRESS" --port=6379 --num-cpus=0 --include-dashboard=false \
    --disable-usage-stats
exec dagster code-server start -m assets.definitions --host 127.0.0.1 --port 4266 --location-name simfoundry
