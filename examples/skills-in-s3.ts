/**
 * Skills from a bucket of S3, or of any store with its protocol: PREFIX/NAME/SKILL.md and the other files beside it.
 *
 *     const s3 = new S3mini({ accessKeyId, secretAccessKey, endpoint: 'https://s3.eu-west-1.amazonaws.com/BUCKET' });
 *     const library = await openSkills({ from: s3Skills(s3, { prefix: 'skills/' }) });
 */
import type { S3mini } from 's3mini';
import type { SkillSource } from 'skillwright';

const MANIFEST = 'SKILL.md';

export function s3Skills(s3: S3mini, { prefix = '', name = 's3' } = {}): SkillSource {
  const load = async (key: string, signal: AbortSignal): Promise<Uint8Array> => {
    signal.throwIfAborted();
    const bytes = await s3.getObjectArrayBuffer(key);
    // Also if it was removed since it was listed: the call fails, and the next one reads what is there then.
    if (bytes === null) throw new Error(`${key} is not in the bucket`);
    return new Uint8Array(bytes);
  };
  /** Keys below a folder, without those that some tools write for the folders themselves. */
  const keysBelow = async (folder: string) =>
    ((await s3.listObjects('/', folder)) ?? []).filter(({ Key }) => Key.startsWith(folder) && !Key.endsWith('/'));
  return {
    name,
    async list({ signal }) {
      const objects = await keysBelow(prefix);
      const names = objects.flatMap(({ Key }) => {
        const [skill = '', file, ...deeper] = Key.slice(prefix.length).split('/');
        return file === MANIFEST && deeper.length === 0 ? [skill] : [];
      });
      return Promise.all(
        names.map(async (skill) => {
          const folder = `${prefix}${skill}/`;
          const tags = objects.filter(({ Key }) => Key.startsWith(folder)).map(({ Key, ETag }) => `${Key} ${ETag}`);
          const bytes = await load(`${folder}${MANIFEST}`, signal);
          return { name: skill, skillMd: new TextDecoder().decode(bytes), version: tags.toSorted().join('\n') };
        }),
      );
    },
    async read(skill, { signal }) {
      const folder = `${prefix}${skill}/`;
      const keys = (await keysBelow(folder)).map(({ Key }) => Key).filter((key) => key !== `${folder}${MANIFEST}`);
      return Promise.all(
        keys.map(async (key) => ({ path: key.slice(folder.length), content: await load(key, signal) })),
      );
    },
  };
}
