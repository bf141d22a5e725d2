import type { AttachedWorkspace, ProgramSpec } from '#core';
import type { PortProxy } from '../../network/bridge.ts';

export type OpenPortProxy = (hosts: readonly string[], proxyFrom: ProgramSpec['proxyFrom']) => Promise<PortProxy>;

/**
 * Lets package managers reach their index. Landlock confines connections by port and not by address, so such a program could reach that
 * port of any host; the port is a new one each time. Package managers run no code of packages, and other programs get no socket at all.
 */
export function withBuildNetwork(attached: AttachedWorkspace, openProxy: OpenPortProxy): AttachedWorkspace {
  return {
    ...attached,
    run: async (spec, streams) => {
      if (spec.network.length === 0 || spec.proxyFrom === undefined) return await attached.run(spec, streams);
      const proxy = await openProxy(spec.network, spec.proxyFrom);
      try {
        const { network: _granted, ...rest } = spec;
        const building = { ...rest, network: [], env: { ...spec.env, ...proxy.env }, proxyPort: proxy.port };
        return { ...(await attached.run(building, streams)), refused: proxy.refused() };
      } finally {
        await proxy.close();
      }
    },
  };
}
