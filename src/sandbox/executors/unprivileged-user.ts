import type { Identity } from '../program-types.ts';

/** The user that programs run as if this process is root. */
export const UNPRIVILEGED_USER: Identity = { uid: 65_534, gid: 65_534 };
