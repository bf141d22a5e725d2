/** Routes that take files for runs that start next. */
import { z } from 'zod';

import { FileName, Uploaded } from '../api/runs.ts';
import { httpError } from '../http-error.ts';
import { route, type Route } from '../router.ts';

interface UploadStore {
  /** Throws 429 if there are too many. */
  readonly store: (name: string, bytes: Uint8Array) => Uploaded | Promise<Uploaded>;
  readonly remove: (id: string) => boolean | Promise<boolean>;
}

export function uploadRoutes(uploads: UploadStore): readonly Route[] {
  return [
    route(
      'POST /uploads',
      'Upload a file for a run that starts next',
      { query: z.strictObject({ name: FileName }), body: 'bytes', answer: Uploaded, status: 201 },
      ({ query: { name }, body }) => uploads.store(name, body),
    ),
    route(
      'DELETE /uploads/{id}',
      'Remove an uploaded file',
      { answer: Uploaded.pick({ id: true }) },
      async ({ params: { id = '' } }) => {
        if (!(await uploads.remove(id))) throw httpError(404, 'no such upload');
        return { id };
      },
    ),
  ];
}
