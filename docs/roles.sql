-- Three roles for an indicator-sync database on PostgreSQL. Run this once as a superuser, connected to that database:
--   psql -d indicators -f docs/roles.sql
-- Then grant them to your users. The role, not the user, must own the tables:
--   grant indicator_reader to alice;
--   grant indicator_writer to loader;  alter role loader set role indicator_writer;
do $$ declare name text; begin
  foreach name in array array['indicator_writer', 'indicator_worker', 'indicator_reader'] loop
    if to_regrole(name) is null then execute format('create role %I nologin', name); end if;
  end loop;
end $$;

-- The writer creates and owns the tables: run `indicator-sync migrate` as a user with this role.
do $$ begin
  execute format('grant connect, create, temporary on database %I to indicator_writer', current_database());
  execute format('grant connect on database %I to indicator_worker, indicator_reader', current_database());
end $$;
grant usage, create on schema public to indicator_writer;
grant usage on schema public to indicator_worker, indicator_reader;
revoke create on schema public from public;

-- Existing objects, and future objects of the writer.
create schema if not exists compat authorization indicator_writer;
grant usage on schema compat to indicator_worker, indicator_reader;
grant select on all tables in schema public to indicator_reader;
grant select, insert, update, delete on all tables in schema public to indicator_worker;
grant usage on all sequences in schema public to indicator_worker;
alter default privileges for role indicator_writer in schema public grant select on tables to indicator_reader;
alter default privileges for role indicator_writer in schema public grant select, insert, update, delete on tables to indicator_worker;
alter default privileges for role indicator_writer in schema public grant usage on sequences to indicator_worker;

-- The queue of the workers, which the first `sync --distributed` of a writer creates.
create schema if not exists pgboss authorization indicator_writer;
grant usage on schema pgboss to indicator_worker, indicator_reader;
grant select on all tables in schema pgboss to indicator_reader;
grant select, insert, update, delete on all tables in schema pgboss to indicator_worker;
grant usage on all sequences in schema pgboss to indicator_worker;
alter default privileges for role indicator_writer in schema pgboss grant select on tables to indicator_reader;
alter default privileges for role indicator_writer in schema pgboss grant select, insert, update, delete on tables to indicator_worker;
alter default privileges for role indicator_writer in schema pgboss grant usage on sequences to indicator_worker;
