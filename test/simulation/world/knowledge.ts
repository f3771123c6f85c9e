/**
 * @module The people's knowledge of the service's records, limited to ids from their responses. An attacker knows the
 * ids of everyone.
 */
import type { Prng } from '../kernel/prng.ts';
import type { HistoryJson } from '../model/history.ts';

export const KINDS = {
  pay: 'payment',
  pmt: 'method',
  cust: 'customer',
  subs: 'subscription',
  org: 'organization',
  mem: 'member',
  addr: 'address',
  ref: 'refund',
  dsp: 'dispute',
  log: 'log entry',
  ers: 'erasure',
} as const;
export type Kind = (typeof KINDS)[keyof typeof KINDS];

export interface Known {
  readonly kind: Kind;
  readonly id: string;
  /** The record's fields in the last response. Later responses overwrite earlier values. */
  readonly fields: Record<string, HistoryJson>;
  readonly seenBy: Set<string>;
}

export interface Wanted {
  readonly kind: Kind;
  readonly person: string;
  readonly fits?: (fields: Readonly<Record<string, HistoryJson>>) => boolean;
  /** A person mostly chooses one of this many latest records. */
  readonly latest: number;
}

export interface Knowledge {
  /** Remembers every record in a response. */
  learn(person: string, answer: HistoryJson): void;
  /** Marks a deleted record, which people then rarely choose. */
  forget(id: string): void;
  get(id: string): Known | undefined;
  all(kind: Kind): readonly Known[];
  /** An id known to the person, or sometimes only to others; undefined without any known id. */
  choose(prng: Prng, wanted: Wanted): Known | undefined;
  /** The latest guest token of a person. */
  tokenOf(person: string): string | undefined;
}

const FOREIGN = 0.1;

export const createKnowledge = (): Knowledge => {
  const records = new Map<string, Known>();
  const gone = new Set<string>();
  const tokens = new Map<string, string>();

  const remember = (person: string, object: Record<string, HistoryJson>): void => {
    const id = object['id'];
    const kind = typeof id === 'string' ? kindOf(id) : undefined;
    if (kind === undefined) return;
    const known = records.get(id) ?? { kind, id, fields: {}, seenBy: new Set<string>() };
    Object.assign(known.fields, object);
    known.seenBy.add(person);
    records.set(id, known);
  };
  const learn = (person: string, answer: HistoryJson): void => {
    if (typeof answer !== 'object' || answer === null) return;
    if (Array.isArray(answer)) {
      for (const each of answer) learn(person, each);
      return;
    }
    if (typeof answer.guest_token === 'string') tokens.set(person, answer.guest_token);
    remember(person, answer);
    for (const value of Object.values(answer)) learn(person, value);
  };

  return {
    learn,
    forget: (id) => void gone.add(id),
    get: (id) => records.get(id),
    all: (kind) => [...records.values()].filter((known) => known.kind === kind),
    choose: (prng, { kind, person, fits = () => true, latest }) => {
      const foreign = prng.chance(FOREIGN);
      const withGone = prng.chance(FOREIGN);
      const isLatest = prng.chance(latest === 1 ? 0.9 : 0.6);
      const drawn = prng.next();
      const fitting = [...records.values()].filter(
        (known) =>
          known.kind === kind &&
          (foreign || known.seenBy.has(person)) &&
          (withGone || !gone.has(known.id)) &&
          fits(known.fields),
      );
      const among = isLatest ? fitting.slice(-latest) : fitting;
      return among[Math.floor(drawn * among.length)];
    },
    tokenOf: (person) => tokens.get(person),
  };
};

const kindOf = (id: string): Kind | undefined => {
  const prefix = /^([a-z]+)_/.exec(id)?.[1] ?? '';
  return Object.hasOwn(KINDS, prefix) ? KINDS[prefix as keyof typeof KINDS] : undefined;
};
