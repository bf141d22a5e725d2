/** What the key of this page may do. What it may not do is not offered. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { ServerStatus } from '#server/api';

export type Right = ServerStatus['rights'][number];

export const RightsContext = createContext<readonly Right[]>([]);

/** False until the server has said so. */
export function useMay(right: Right): boolean {
  return useContext(RightsContext).includes(right);
}
