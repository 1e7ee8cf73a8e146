# dlt with merge into SQLite, one response after the other: `python3 dlt_merge.py address out.db from to`
import datetime, json, os, sys, tempfile
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
import dlt
from dlt.sources.helpers import requests

address, database, start, end = sys.argv[1:]
read = 0

@dlt.resource(name="observation", write_disposition="merge", primary_key=("geo_id", "datetime"))
def values():
    global read
    day, last = datetime.date.fromisoformat(start), datetime.date.fromisoformat(end)
    while day <= last:
        until = min(last, day + datetime.timedelta(days=179))
        body = requests.get(f"{address}/indicators/600", params={
            "start_date": f"{day}T00:00:00Z", "end_date": f"{until}T23:59:59Z"}).json()
        rows = [{key: row[key] for key in ("geo_id", "datetime", "value")} for row in body["indicator"]["values"]]
        read += len(rows)
        yield rows
        day = until + datetime.timedelta(days=1)

with tempfile.TemporaryDirectory() as folder:
    pipeline = dlt.pipeline(pipeline_name="bench", pipelines_dir=folder, dataset_name="main",
                            destination=dlt.destinations.sqlalchemy(f"sqlite:///{database}"))
    pipeline.run(values())
print(json.dumps({"rows": read}))
