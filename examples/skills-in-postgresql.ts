/**
 * Skills from tables of PostgreSQL. A skill that changed is read again by `library.refresh()`, or at once by `notify skills`.
 *
 *     const library = await openSkills({ from: postgresSkills(new Pool({ connectionString })) });
 */
import type { Pool } from 'pg';
import type { SkillSource } from 'skillwright';

export const TABLES = `
create table if not exists skills (name text primary key, skill_md text not null);
create table if not exists skill_files (
  skill text references skills on delete cascade, path text, content bytea not null,
  executable boolean not null default false, primary key (skill, path)
);`;

/** The version is computed from the files, so that nobody can forget to raise it. */
const LIST = `
select name, skill_md as "skillMd", coalesce((
  select md5(string_agg(path || executable || md5(content), ' ' order by path)) from skill_files where skill = name
), '') as version from skills order by name`;
const READ = 'select path, content, executable from skill_files where skill = $1 order by path';

type Listed = Awaited<ReturnType<SkillSource['list']>>[number];
type File = Awaited<ReturnType<SkillSource['read']>>[number];

export function postgresSkills(pool: Pool, name = 'database'): SkillSource {
  return {
    name,
    list: async () => (await pool.query<Listed>(LIST)).rows,
    read: async (skill) => (await pool.query<File>(READ, [skill])).rows,
    watch(onChange) {
      const listening = pool.connect().then(async (client) => {
        client.on('notification', onChange);
        // A lost connection ends the watch; `refresh` works without it.
        client.on('error', (error) => console.error(`no longer watching skills: ${error.message}`));
        await client.query('listen skills');
        return client;
      });
      listening.catch((error: unknown) => console.error('cannot watch skills', error));
      return () => void listening.then((client) => client.release(true)).catch(() => undefined);
    },
  };
}
