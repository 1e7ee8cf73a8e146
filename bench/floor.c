/*
 * The floor: what a C program against the same SQLite needs for the same work, key decoding included.
 * Reads responses one after the other (a decimal length, a line break, that many bytes), finds value,
 * datetime, geo_id of every row, and upserts them into a table keyed (series, geo, instant): one prepared statement,
 * one transaction per response. Prints the seconds from the first byte to the last commit, those of the processor, and the rows.
 *   cc -O2 -o floor floor.c -lsqlite3 && ./floor responses.bin out.db [history]
 * With `history` a trigger keeps what every value was before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sqlite3.h"

static double clock_of(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static double now(void) { return clock_of(CLOCK_MONOTONIC); }
static double processor(void) { return clock_of(CLOCK_PROCESS_CPUTIME_ID); }

static void must(int code, sqlite3 *db, int wanted) {
  if (code != wanted) {
    fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static int two(const char *p) { return (p[0] - '0') * 10 + p[1] - '0'; }

/* Howard Hinnant, days_from_civil. */
static long long days(int y, int m, int d) {
  y -= m <= 2;
  long long era = y / 400;
  int yoe = (int)(y - era * 400), doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* 2025-10-01T00:00:00.000+02:00 */
static long long instant(const char *p) {
  long long local = days(two(p) * 100 + two(p + 2), two(p + 5), two(p + 8)) * 86400 + two(p + 11) * 3600 +
                    two(p + 14) * 60 + two(p + 17);
  long long offset = two(p + 24) * 3600 + two(p + 27) * 60;
  return p[23] == '-' ? local + offset : local - offset;
}

/* As the product keeps it: src/db/tables/series.ts. */
static const char *HISTORY =
    "create table if not exists observation_revision (series_id integer not null, geo_id integer not null,"
    " at integer not null, fetch_id integer not null, value real, step_s integer not null, superseded_by integer not null,"
    " primary key (series_id, geo_id, at, fetch_id)) strict, without rowid;"
    "create trigger if not exists observation_revised after update on observation"
    " when old.value is not new.value or old.step_s is not new.step_s begin"
    " insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)"
    " values (old.series_id, old.geo_id, old.at, old.fetch_id, old.value, old.step_s, new.fetch_id); end";

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  FILE *in = fopen(argv[1], "rb");
  if (!in) return 2;
  fseek(in, 0, SEEK_END);
  long size = ftell(in);
  rewind(in);
  char *all = malloc(size + 1);
  if (fread(all, 1, size, in) != (size_t)size) return 2;
  all[size] = 0;
  sqlite3 *db;
  must(sqlite3_open(argv[2], &db), db, SQLITE_OK);
  must(sqlite3_exec(db,
                    "pragma journal_mode=wal; pragma synchronous=normal; pragma cache_size=-32768;"
                    "create table if not exists observation (series_id integer not null, geo_id integer not null,"
                    " at integer not null, value real, step_s integer not null, fetch_id integer not null,"
                    " primary key (series_id, geo_id, at)) strict, without rowid",
                    0, 0, 0),
       db, SQLITE_OK);
  sqlite3_stmt *upsert, *begin, *commit;
  must(sqlite3_prepare_v2(db,
                          "insert into observation values (?,?,?,?,?,?) on conflict (series_id, geo_id, at) do update set"
                          " value = excluded.value, step_s = excluded.step_s, fetch_id = excluded.fetch_id"
                          " where value is not excluded.value or step_s is not excluded.step_s",
                          -1, &upsert, 0),
       db, SQLITE_OK);
  must(sqlite3_prepare_v2(db, "begin immediate", -1, &begin, 0), db, SQLITE_OK);
  must(sqlite3_prepare_v2(db, "commit", -1, &commit, 0), db, SQLITE_OK);
  if (argc > 3)
    must(sqlite3_exec(db, HISTORY, 0, 0, 0), db, SQLITE_OK);
  double began = now(), worked = processor();
  long rows = 0, fetch = 0;
  for (char *p = all; p < all + size;) {
    long length = strtol(p, &p, 10);
    char *end = ++p + length;
    char *id = strstr(p, "\"id\":");
    long series = strtol(id + 5, 0, 10);
    fetch++;
    must(sqlite3_step(begin), db, SQLITE_DONE);
    sqlite3_reset(begin);
    char *row = strstr(p, "\"values\":[");
    while (row && (row = strstr(row, "\"value\":")) && row < end) {
      double value = strtod(row + 8, &row);
      row = strstr(row, "\"datetime\":\"") + 12;
      long long at = instant(row);
      row = strstr(row, "\"geo_id\":") + 9;
      long geo = strtol(row, &row, 10);
      sqlite3_bind_int64(upsert, 1, series);
      sqlite3_bind_int64(upsert, 2, geo);
      sqlite3_bind_int64(upsert, 3, at);
      sqlite3_bind_double(upsert, 4, value);
      sqlite3_bind_int64(upsert, 5, 3600);
      sqlite3_bind_int64(upsert, 6, fetch);
      must(sqlite3_step(upsert), db, SQLITE_DONE);
      sqlite3_reset(upsert);
      rows++;
    }
    must(sqlite3_step(commit), db, SQLITE_DONE);
    sqlite3_reset(commit);
    p = end + (end < all + size && *end == '\n');
  }
  printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"rows\": %ld}\n", now() - began, processor() - worked, rows);
  sqlite3_finalize(upsert);
  sqlite3_finalize(begin);
  sqlite3_finalize(commit);
  sqlite3_close(db);
  return 0;
}
