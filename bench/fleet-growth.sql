-- A million stored runs on synthetic tables: what do the queries of a fleet cost then? Fill and measure in an empty database:
--   createdb growth && SKILLWRIGHT_DATABASE_URL=postgres:///growth skillwright fleet migrate && psql growth -f bench/fleet-growth.sql
\timing on
insert into skillwright.projects (name) select 'p' || n from generate_series(1, 10) n;
insert into skillwright.skill_sets (id, skills) values ('s', '[]');
insert into skillwright.runs (id, project, request, options, skill_set, format, state, outcome, answer, reason, submitted_by, submitted_at, started_at, ended_at)
  select 'r' || n, 'p' || (1 + n % 10), 'request ' || n, '{}', 's', 1, 'ended', 'done', 'answer ' || n, '', 'k',
    now() - make_interval(secs => n), now() - make_interval(secs => n), now() from generate_series(1, 1000000) n;
insert into skillwright.attempts (run, attempt, worker) select 'r' || n, 1, 'w' from generate_series(1, 1000000) n;
-- Ten lines for each of 50,000 runs: the other runs are counted by their proportion.
insert into skillwright.lines (run, attempt, record, seq, line)
  select 'r' || n, 1, 'x', s, repeat('x', 500) from generate_series(1, 50000) n, generate_series(1, 10) s;
insert into skillwright.runs (id, project, request, options, skill_set, format, state, submitted_by)
  select 'q' || n, 'p1', 'request', '{}', 's', 1, 'queued', 'k' from generate_series(1, 10000) n;
analyze;
\echo newest 50
select count(*) from (select * from skillwright.runs where project = 'p1' order by submitted_at desc, id desc limit 50) x;
\echo quota: queued runs of a project
select count(*) from skillwright.runs where project = 'p1' and state = 'queued';
\echo claim
update skillwright.runs set state = 'running', worker = 'w' where id = 'q1' and attempt = 1 and state = 'queued';
\echo open runs by state
select state, count(*) from skillwright.runs where state in ('queued', 'running', 'waiting') group by state;
\echo retention: 1,000 old runs with their records
delete from skillwright.runs where id in (select id from skillwright.runs where state = 'ended' and ended_at <= now() and id like 'r%' order by id limit 1000);
\echo sizes
select relname, pg_size_pretty(pg_table_size(oid)) as data, pg_size_pretty(pg_indexes_size(oid)) as indexes
  from pg_class where relnamespace = 'skillwright'::regnamespace and relkind = 'r' order by pg_total_relation_size(oid) desc limit 4;
