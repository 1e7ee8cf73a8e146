#!/bin/sh
# PostgreSQL with two workers: INDICATOR_SYNC_DATABASE=postgres://user@host/market sh workers.sh
# Workers may also run on other machines, as services.
set -eu
indicator-sync migrate
indicator-sync worker --quiet &
first=$!
indicator-sync worker --quiet &
second=$!
trap 'kill $first $second' EXIT
indicator-sync sync prices.yaml --distributed
