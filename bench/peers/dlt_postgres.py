# dlt with merge into PostgreSQL, all responses in one run, its fastest way. `python3 dlt_postgres.py responses.bin postgres://…`
import json, os, sys, tempfile, time
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
import dlt

def bodies(path):
    with open(path, "rb") as responses:
        while line := responses.readline():
            yield responses.read(int(line))
            responses.readline()

ready, rows = list(bodies(sys.argv[1])), 0

@dlt.resource(name="observation", write_disposition="merge", primary_key=("series_id", "geo_id", "datetime"))
def values():
    global rows
    for body in ready:
        indicator = json.loads(body)["indicator"]
        found = [{"series_id": indicator["id"], **{key: row[key] for key in ("geo_id", "datetime", "value")}}
                 for row in indicator["values"]]
        rows += len(found)
        yield found

began, worked = time.monotonic(), time.process_time()
with tempfile.TemporaryDirectory() as folder:
    dlt.pipeline(pipeline_name="bench", pipelines_dir=folder, dataset_name="peer",
                 destination=dlt.destinations.postgres(sys.argv[2].replace("postgres://", "postgresql://"))).run(values())
print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - worked, "rows": rows}))
