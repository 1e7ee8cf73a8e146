#!/bin/sh
# Fetch a long history: sh backfill.sh 2015-01-01 2025-01-01. It continues after each spent budget (4) and outage (8).
set -u
indicator-sync plan prices.yaml --from "$1" --to "$2"
while :; do
  indicator-sync backfill prices.yaml --from "$1" --to "$2"
  code=$?
  case $code in
    4 | 8) sleep 3600 ;;
    *) exit $code ;;
  esac
done
