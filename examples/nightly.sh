#!/bin/sh
# A night with SQLite. In cron: 15 21 * * * cd /srv/market && sh nightly.sh
set -eu
indicator-sync sync prices.yaml --quiet
mkdir -p public
indicator-sync publish public/prices.db --overwrite --quiet
# Exit code 6 and a list of findings, if something needs attention: cron mails it.
indicator-sync check
