import type { Prng } from '../kernel/prng.ts';
import type { HistoryAct } from '../model/history.ts';
import { type Client, createClient } from './client.ts';
import { createKnowledge } from './knowledge.ts';
import type { Acted, OperationStep, Scene, WorldOperation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { MERCHANTS, USERS } from './people.ts';
import { prepare } from './preparation.ts';
import type { StageAnswer, WorldStage } from './stage.ts';

/**
 * A seeded history of rounds. The operations of a round are sent at the same time, and a span of virtual time follows.
 * Operations are named `operation round.index`. A switched-off operation is left out; other operations stay unchanged.
 */
export interface World {
  readonly client: Client;
  /** The names by which each planned operation can be switched off, such as `operation 2.3`. */
  readonly labels: readonly string[];
  /** The people who acted. */
  readonly people: readonly string[];
  /** Acts of payers, banks and dashboards. */
  readonly acts: readonly HistoryAct[];
  run(): Promise<void>;
}

export interface WorldOptions {
  readonly stage: WorldStage;
  readonly prng: Prng;
  /** True if rate limits are on. */
  readonly limits: boolean;
  /** Operations that are left out. */
  readonly off?: ReadonlySet<string>;
  /** A callback between two rounds. */
  readonly afterRound?: (spanMs: number) => Promise<void>;
  /** A callback after each week of a longer span. */
  readonly afterWeek?: () => Promise<void>;
  /** One round lasts until this time (ms since the start), because a scheduled fault happens before. */
  readonly lastsUntil?: number;
  readonly note?: (text: string) => void;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

const SPANS = [
  { weight: 6, ms: 0 },
  { weight: 4, ms: 2 * SECOND_MS },
  { weight: 4, ms: 70 * SECOND_MS },
  { weight: 2, ms: 6 * MINUTE_MS },
  { weight: 2, ms: HOUR_MS },
  // Longer than half a day, so that a payment may be confirmed late in its confirmation period of 24 h.
  { weight: 1, ms: 13 * HOUR_MS },
  { weight: 2, ms: 26 * HOUR_MS },
  { weight: 1, ms: 8 * DAY_MS },
  { weight: 1, ms: 32 * DAY_MS },
];

/** The total length of all spans. Renewals over a longer time would only make a history longer. */
const LONGEST_MS = 45 * DAY_MS;

/** The share of runs with paying staff. In other runs only the non-paying ROOT is the merchant. */
const MERCHANTS_PAY = 0.4;

export const createWorld = ({
  stage,
  prng,
  limits,
  off = new Set(),
  afterRound,
  afterWeek,
  lastsUntil = 0,
  note = () => undefined,
}: WorldOptions): World => {
  const knowledge = createKnowledge();
  const client = createClient({ stage, knowledge, prng: prng.fork('secrets') });
  const labels: string[] = [];
  const acts: HistoryAct[] = [];
  const people = new Set<string>();

  const act = async ({ method = 'POST', path, headers, body }: Acted): Promise<StageAnswer> => {
    const answer = await stage.control({
      method,
      path,
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
    note(`${method} ${path}: ${answer.status}`);
    return answer;
  };
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > WEEK_MS; left -= WEEK_MS) {
      await stage.wait(WEEK_MS);
      await afterWeek?.();
    }
    await stage.wait(ms === 0 ? 0 : ((ms - 1) % WEEK_MS) + 1);
  };
  const carryOut = async ({ label, operation, step, chance }: Planned): Promise<void> => {
    const answer = step.kind === 'act' ? await act(step) : await client.ask(operation.name, step, chance);
    if (step.kind === 'act') {
      const { name = operation.name, path, isFailure = false } = step;
      acts.push({ name, path, at: stage.now(), status: answer.status, isFailure });
    }
    const next = step.next?.(answer);
    if (next) await carryOut({ label, operation, step: next, chance });
  };

  return {
    client,
    labels,
    acts,
    get people() {
      return [...people];
    },
    run: async () => {
      const paying = prng.fork('merchants').chance(MERCHANTS_PAY) ? MERCHANTS : [];
      await prepare(client, prng.fork('preparation'), paying);
      const rounds = prng.fork('rounds');
      const count = rounds.int(3, 8);
      const users = [...USERS.slice(0, rounds.int(2, USERS.length)), ...paying];
      const spans = preferring(prng.fork('spans'), SPANS);
      let left = LONGEST_MS;
      const startedAt = stage.now();
      const longRound = prng.fork('long round').int(0, count - 1);
      const operations = preferring(prng.fork('preferences'), OPERATIONS);
      for (let round = 0; round < count; round += 1) {
        const chance = prng.fork(`round ${round}`);
        const scene = {
          chance,
          knowledge,
          limits,
          users,
          operations,
          now: stage.now(),
          latest: chance.fork('attention').pick(LATEST),
          sent: client.exchanges,
          plant: client.plant,
        };
        const planned = planRound(scene, round).filter((one) => !off.has(one.label) && !off.has(actorOf(one)));
        labels.push(...planned.map(({ label }) => label));
        for (const one of planned) people.add(actorOf(one));
        for (const one of planned) note(`${one.label}: ${actorOf(one)}: ${one.operation.name}`);
        await Promise.all(planned.map(carryOut));
        const drawn = chance.weighted(spans.filter((span) => span.ms <= left)).ms;
        const chosen = untilRenewal({ prng: chance.fork('renewal'), knowledge, now: stage.now() }, left) ?? drawn;
        const ms = round === longRound ? Math.max(chosen, startedAt + lastsUntil - stage.now()) : chosen;
        left = Math.max(0, left - ms);
        await pass(ms);
        await afterRound?.(ms);
      }
    },
  };
};

/** The offset of the next round from the end of a period. An immediate change needs an hour. */
const FROM_RENEWAL_MS = [-2 * HOUR_MS, -61 * MINUTE_MS, -50 * MINUTE_MS, -MINUTE_MS, -SECOND_MS, 0, 30 * SECOND_MS];

/** Sometimes people act around the minute in which a subscription is renewed. */
const untilRenewal = (
  { prng, knowledge, now }: Pick<Scene, 'prng' | 'knowledge' | 'now'>,
  left: number,
): number | undefined => {
  if (!prng.chance(0.15)) return undefined;
  const from = prng.pick(FROM_RENEWAL_MS);
  const spans = knowledge
    .all('subscription')
    .filter(({ fields }) => fields['status'] === 'active' || fields['status'] === 'trialing')
    .map(({ fields }) => Date.parse(fields['current_period_end']) + from - now)
    .filter((ms) => ms > 0 && ms <= left);
  return spans.length === 0 ? undefined : prng.pick(spans);
};

interface Planned {
  readonly label: string;
  readonly operation: WorldOperation;
  readonly step: OperationStep;
  readonly chance: Prng;
}

/** The name of a person who uses the service; `outside` for a payer, bank or dashboard at a provider. */
const actorOf = ({ step }: Planned): string => (step.kind === 'request' ? step.person.name : 'outside');

interface RoundScene extends Omit<Scene, 'prng'> {
  readonly chance: Prng;
  readonly operations: readonly WorldOperation[];
}

/** Each seed prefers other operations and spans, to reach rare combinations hidden in a mix. */
const preferring = <T extends { readonly weight: number }>(prng: Prng, all: readonly T[]): readonly T[] =>
  all.map((one) => ({ ...one, weight: one.weight * prng.pick([0.1, 0.5, 1, 1, 3]) }));

const TRIES = 6;
/** In some rounds everyone acts on the same few records. */
const LATEST = [1, 1, 4, 4, 4] as const;
/**
 * The probability that a request is sent twice, or together with another request of its kind, mostly about the same
 * record.
 */
const TWICE = 0.25;

const planRound = (scene: RoundScene, round: number): Planned[] => {
  const { chance } = scene;
  const planned: Planned[] = [];
  const count = chance.int(1, 5);
  for (let index = 0; index < count; index += 1) {
    const prng = chance.fork(`operation ${index}`);
    const drawn = draw({ ...scene, prng });
    if (!drawn) continue;
    const label = `operation ${round}.${index}`;
    planned.push({ ...drawn, label, chance: prng });
    if (!prng.chance(drawn.operation.twice ?? TWICE)) continue;
    const again = { label: `${label} again`, chance: prng.fork('again') };
    planned.push({ ...drawn, ...again, step: secondOf(drawn, { ...scene, prng }) });
  }
  return planned;
};

const secondOf = (
  { operation, step }: Pick<Planned, 'operation' | 'step'>,
  scene: RoundScene & Scene,
): OperationStep => {
  const prng = scene.prng.fork('another');
  if (operation.again) return operation.again(step, prng);
  const other = scene.prng.chance(0.5) ? operation.plan({ ...scene, prng, latest: 1 }) : undefined;
  return other ? inSession({ ...scene, prng }, other) : step;
};

/** An operation that a person can carry out now. */
const draw = (scene: RoundScene & Scene): Pick<Planned, 'operation' | 'step'> | undefined => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const operation = scene.prng.weighted(scene.operations);
    const step = operation.plan(scene);
    if (step) return { operation, step: inSession(scene, step) };
  }
  return undefined;
};

const IN_ORGANIZATION = 0.2;
/** The probability that the merchant's backend sends a user's request for the user. */
const BY_KEY = 0.12;

/** Users also work in an organization. Their session names the organization, so their requests can omit it. */
const inSession = ({ prng: chance, knowledge, latest }: Scene, step: OperationStep): OperationStep => {
  const prng = chance.fork('session');
  if (step.kind !== 'request' || step.person.kind !== 'user') return step;
  if (step.inOrganization !== undefined || step.byKey !== undefined) return step;
  // A request that repeats another one has the same credential.
  const isByKey = step.idempotencyKey === undefined && chance.fork('key').chance(BY_KEY);
  if (isByKey) return { ...step, byKey: 'backend' as const };
  if (!prng.chance(IN_ORGANIZATION)) return step;
  const organization = knowledge.choose(prng, { kind: 'organization', person: step.person.name, latest });
  if (!organization) return step;
  const { organization_id: named, ...rest } = step.body ?? {};
  const isLeftOut = named === organization.id && prng.chance(0.7);
  return { ...step, inOrganization: organization.id, ...(isLeftOut && { body: rest }) };
};
