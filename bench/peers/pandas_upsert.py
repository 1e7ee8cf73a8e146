# As an analyst does it: json, a DataFrame, to_sql into a staging table, an upsert. `python3 pandas_upsert.py responses.bin out.db`
import json, sqlite3, sys, time
import pandas

def bodies(path):
    with open(path, "rb") as responses:
        while line := responses.readline():
            yield responses.read(int(line))
            responses.readline()

db = sqlite3.connect(sys.argv[2])
db.execute("pragma journal_mode=wal")
db.execute("create table observation (series_id integer, geo_id integer, at integer, value real, step_s integer, fetch_id integer,"
           " primary key (series_id, geo_id, at)) without rowid")
ready = list(bodies(sys.argv[1]))
began, worked, rows = time.monotonic(), time.process_time(), 0
for fetch, body in enumerate(ready):
    indicator = json.loads(body)["indicator"]
    frame = pandas.DataFrame(indicator["values"])
    frame["at"] = (
        pandas.to_datetime(frame["datetime"], utc=True) - pandas.Timestamp("1970-01-01", tz="UTC")
    ) // pandas.Timedelta("1s")
    frame = frame[["geo_id", "at", "value"]].assign(series_id=indicator["id"], step_s=3600, fetch_id=fetch)
    frame.to_sql("staging", db, if_exists="replace", index=False)
    db.execute("insert into observation (series_id, geo_id, at, value, step_s, fetch_id)"
               " select series_id, geo_id, at, value, step_s, fetch_id from staging where true"
               " on conflict do update set value = excluded.value, step_s = excluded.step_s, fetch_id = excluded.fetch_id"
               " where value is not excluded.value or step_s is not excluded.step_s")
    db.commit()
    rows += len(frame)
print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - worked, "rows": rows}))
