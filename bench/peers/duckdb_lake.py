"""Times one SQL statement over a lake: duckdb_lake.py LAKE SQL."""
import json
import os
import sys
import time

import duckdb

lake, sql = sys.argv[1:3]
root = os.path.realpath(os.path.join(lake, "current"))
db = duckdb.connect()
db.sql("set timezone = 'UTC'")
for table in os.listdir(root):
    if os.path.isdir(f"{root}/{table}"):
        db.sql(f"create view {table} as from read_parquet('{root}/{table}/**/*.parquet', hive_partitioning = true)")
began = time.monotonic()
rows = len(db.sql(sql).fetchall())
print(json.dumps({"seconds": time.monotonic() - began, "rows": rows}))
