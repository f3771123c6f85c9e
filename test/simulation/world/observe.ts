import type { History } from '../model/history.ts';
import type { SimulatedService } from '../places/service.ts';
import { PEOPLE } from './people.ts';
import type { World } from './world.ts';

export interface Moment {
  readonly startedAt: number;
  readonly now: number;
  readonly atRest: boolean;
  readonly isCalm: boolean;
  readonly outage: History['outage'];
  readonly logs: History['logs'];
  readonly givenUp: History['givenUp'];
}

/** The current state of the service, providers and targets, read without the scheduler. */
export const observe = async (service: SimulatedService, world: World, moment: Moment): Promise<History> => ({
  ...moment,
  limits: service.limits,
  people: PEOPLE,
  exchanges: [...world.client.exchanges],
  canaries: [...world.client.canaries],
  acts: [...world.acts],
  ledger: await service.control('GET', '/simulator/ledger'),
  items: await service.items(),
  claims: [...service.claims],
  providerCalls: service.providerCalls.map((call) => ({ ...call })),
  bus: service.parts.busEvents() as History['bus'],
  deliveries: await service.control('GET', '/sink/default'),
  queues: await service.control('GET', '/queues'),
  audit: undefined,
});
