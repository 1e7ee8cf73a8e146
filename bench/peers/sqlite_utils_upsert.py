# sqlite-utils: `python3 sqlite_utils_upsert.py responses.bin out.db`
import json, sys, time
from datetime import datetime
import sqlite_utils

def bodies(path):
    with open(path, "rb") as responses:
        while line := responses.readline():
            yield responses.read(int(line))
            responses.readline()

db = sqlite_utils.Database(sys.argv[2])
db.enable_wal()
ready = list(bodies(sys.argv[1]))
began, worked, rows = time.monotonic(), time.process_time(), 0
for fetch, body in enumerate(ready):
    indicator = json.loads(body)["indicator"]
    db["observation"].upsert_all(
        ({"series_id": indicator["id"], "geo_id": row["geo_id"], "at": int(datetime.fromisoformat(row["datetime"]).timestamp()),
          "value": row["value"], "step_s": 3600, "fetch_id": fetch} for row in indicator["values"]),
        pk=("series_id", "geo_id", "at"))
    rows += len(indicator["values"])
print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - worked, "rows": rows}))
