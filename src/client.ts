/**
 * A client of the fleet API: submit runs, follow them, answer questions. See docs/fleet.md.
 *
 * @module
 */
export { openFleetClient } from './fleet/client.ts';
export type {
  FleetClient,
  FleetClientOptions,
  FleetEvent,
  FleetQuestion,
  FleetRun,
  FleetSubmission,
} from './fleet/client.ts';
