import type { Prng } from './prng.ts';
import type { Place } from './step.ts';

/**
 * The frequency of faults in a run. Each seed draws its own weather. Some runs have no fault, and some have only one
 * kind of fault, to reach rare combinations hidden by a mix of all faults.
 */
export interface Weather {
  /** The probability that a step goes wrong, by place. */
  readonly faults: Readonly<Record<Place, number>>;
  /** The probability that a step is delayed. */
  readonly delays: number;
  /** The longest delay of a step, ms. */
  readonly longestDelayMs: number;
  /** The probability that the function is killed after a step. */
  readonly kills: number;
  /** The probability that a function starts in a new instance although an idle one exists. */
  readonly freshInstances: number;
  /** The probability that a message or batch is given to two invocations. */
  readonly doubleStarts: number;
  /** The maximum difference between an instance's clock and the true time, ms. */
  readonly clockSkewMs: number;
  /** The maximum lag of index reads behind the table, ms; 0 for no lag. */
  readonly indexLagMs: number;
  /** The probability per operation that the stream is replayed to its consumers. */
  readonly replays: number;
  /** How providers deliver webhooks; `delay` delivers them an hour late. */
  readonly providerWebhooks: 'normal' | 'duplicate' | 'reorder' | 'delay';
  /** A provider that responds to no call for a time. */
  readonly outage: Outage | undefined;
  /** True if faults of this kind occur in this run. */
  readonly allows: (kind: string) => boolean;
}

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;
const DAY_MS = 86_400_000;
const CALM_PLACES = {
  table: 0,
  provider: 0,
  queue: 0,
  bus: 0,
  identity: 0,
  target: 0,
  gateway: 0,
  webhook: 0,
  start: 0,
} as const;

export interface Outage {
  readonly adapter: 'stripe' | 'paypal' | 'square';
  /** The begin and end of the outage, ms since the start of the run. */
  readonly from: number;
  readonly until: number;
}

/** Weather without faults. */
export const CALM: Weather = {
  faults: CALM_PLACES,
  delays: 0,
  longestDelayMs: 0,
  kills: 0,
  freshInstances: 0,
  doubleStarts: 0,
  clockSkewMs: 0,
  indexLagMs: 0,
  replays: 0,
  providerWebhooks: 'normal',
  outage: undefined,
  allows: () => false,
};

export const drawWeather = (prng: Prng): Weather => {
  if (prng.chance(0.1)) return CALM;
  // In mild weather most requests succeed, so histories get further.
  const often = prng.pick([0.2, 0.6]);
  const level = (most: number, present = often): number => (prng.chance(present) ? most * prng.next() ** 2 : 0);
  const kinds = new Map<string, boolean>();
  const share = prng.pick([0.3, 0.6, 1]);
  const ofKinds = prng.fork('kinds');
  const ofWebhooks = prng.fork('webhooks');
  return {
    faults: {
      table: level(0.15),
      // Also happens in mild weather, because the handling of a provider's lost response matters most.
      provider: prng.chance(0.6) ? 0.5 * prng.next() : 0,
      queue: level(0.2),
      bus: level(0.3),
      identity: level(0.05),
      target: level(0.3),
      gateway: level(0.15),
      webhook: ofWebhooks.chance(0.5) ? ofWebhooks.next() : 0,
      start: level(0.1),
    },
    delays: level(0.3),
    longestDelayMs: prng.pick([50, 1_000, 10_000, 60_000]),
    kills: level(0.15),
    freshInstances: level(0.2),
    doubleStarts: level(0.2),
    clockSkewMs: prng.pick([0, 0, 200, 2_000]),
    indexLagMs: prng.pick([0, 0, 500, 5_000]),
    replays: level(0.1, 0.3),
    providerWebhooks: prng.pick(['normal', 'normal', 'duplicate', 'reorder', 'delay']),
    outage: prng.chance(0.5) ? drawOutage(prng) : undefined,
    allows: (kind) => {
      const known = kinds.get(kind);
      if (known !== undefined) return known;
      const drawn = ofKinds.fork(kind).chance(share);
      kinds.set(kind, drawn);
      return drawn;
    },
  };
};

/** The due days of renewals, trial ends and retries, counted from the start. */
const DAYS_OF_RENEWALS = [1, 2, 3, 4, 5, 7, 7, 7, 8, 10, 14, 21, 31, 31, 32] as const;

/** Half of the outages start with the first requests, and half start later, when renewals and retries are due. */
const drawOutage = (prng: Prng): Outage => {
  const isLate = prng.chance(0.5);
  const from = isLate
    ? prng.pick(DAYS_OF_RENEWALS) * DAY_MS - Math.round((DAY_MS / 2) * prng.next())
    : Math.round(2_000 * (TEN_MINUTES_MS / 2_000) ** prng.next());
  const isWholeDay = prng.chance(isLate ? 0.6 : 0.2);
  const lasts = isWholeDay ? DAY_MS : Math.round(MINUTE_MS * (DAY_MS / MINUTE_MS) ** prng.next());
  return { adapter: prng.pick(['stripe', 'stripe', 'paypal', 'square']), from, until: from + lasts };
};
