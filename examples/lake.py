"""Prints the average price of each month: python3 lake.py s3://bucket/market, or a folder."""
import json
import sys

import duckdb
import fsspec

lake = sys.argv[1]
files, root = fsspec.url_to_fs(lake)
# The manifest names the files of the current snapshot.
manifest = json.loads(files.cat_file(f"{root}/manifest.json"))


def paths(table):
    return [f"{lake}/{manifest['folder']}/{file['path']}" for file in manifest["tables"][table]["files"]]


db = duckdb.connect()
if lake.startswith("s3://"):
    db.register_filesystem(files)
db.read_parquet(paths("observation"), hive_partitioning=True).create_view("observation")
db.read_parquet(paths("series")).create_view("series")
print(db.sql("""
    select date_trunc('month', at_utc at time zone 'Europe/Madrid') as month,
           round(sum(value * step_s) / sum(step_s), 2) as average
    from observation join series using (series_id)
    where indicator_id = 600 and geo_id = 3 and time_trunc is null and value is not null
    group by month order by month"""))
