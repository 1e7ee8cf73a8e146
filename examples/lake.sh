#!/bin/sh
# A lake of Parquet files: sh lake.sh s3://bucket/market, with the usual AWS variables. A folder works, too.
# For a bucket: npm install @aws-sdk/client-s3. For lake.py: pip install duckdb s3fs
set -eu
indicator-sync sync prices.yaml --quiet
indicator-sync lake sync "$1"
"${PYTHON:-python3}" lake.py "$1"
