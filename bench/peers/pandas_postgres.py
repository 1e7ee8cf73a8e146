# As an analyst does it: json, a DataFrame, to_sql into a staging table, an upsert. `python3 pandas_postgres.py responses.bin postgres://…`
import json, sys, time
import pandas, sqlalchemy

def bodies(path):
    with open(path, "rb") as responses:
        while line := responses.readline():
            yield responses.read(int(line))
            responses.readline()

engine = sqlalchemy.create_engine(sys.argv[2].replace("postgres://", "postgresql+psycopg2://"))
ready = list(bodies(sys.argv[1]))
with engine.begin() as db:
    db.execute(sqlalchemy.text("create table panda (series_id bigint, geo_id bigint, at bigint, value double precision,"
                               " primary key (series_id, geo_id, at))"))
began, worked, rows = time.monotonic(), time.process_time(), 0
for body in ready:
    indicator = json.loads(body)["indicator"]
    frame = pandas.DataFrame(indicator["values"])
    frame["at"] = (
        pandas.to_datetime(frame["datetime"], utc=True) - pandas.Timestamp("1970-01-01", tz="UTC")
    ) // pandas.Timedelta("1s")
    frame = frame[["geo_id", "at", "value"]].assign(series_id=indicator["id"])
    with engine.begin() as db:
        frame.to_sql("staging", db, if_exists="replace", index=False, method="multi", chunksize=1000)
        db.execute(sqlalchemy.text("insert into panda select series_id, geo_id, at, value from staging"
                                   " on conflict (series_id, geo_id, at) do update set value = excluded.value"))
    rows += len(frame)
print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - worked, "rows": rows}))
