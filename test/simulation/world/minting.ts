/**
 * @module A person tries many stolen cards on new payments, saves them, and has subscriptions charge them. Most cards
 * are declined. A guest names the e-mail address of another guest, who pays afterwards.
 */
import type { Prng } from '../kernel/prng.ts';
import type { HistoryJson, Person } from '../model/history.ts';
import { DECLINED_CARDS } from './methods-to-try.ts';
import type { AskedRequest, OperationStep, Scene, WorldOperation } from './operation.ts';
import { confirmStep, drawAmount, drawProvider } from './payments.ts';
import { GUESTS, type WorldProvider } from './people.ts';

interface Minter {
  readonly prng: Prng;
  readonly person: Person;
  readonly provider: WorldProvider;
  /** The guest with the named e-mail address; undefined for a user. */
  readonly victim: Person | undefined;
  /** A saved card that is declined at every charge. */
  readonly saved: HistoryJson;
}

/** More tries than any window of declines permits. */
const MOST = { user: 24, guest: 13 } as const;
/** A refused request counts as this many tries, so the person stops sooner. */
const AFTER_REFUSAL = 4;

const asGuest = ({ email, name }: Person) => ({ guest_data: { email, name } });

const request = ({ person, victim }: Minter, path: string, body: Readonly<Record<string, unknown>>): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path },
  ...(victim === undefined || path.includes('confirm')
    ? { body }
    : { body: { ...body, ...asGuest(victim) }, withoutToken: true }),
});

type Way = (minter: Minter, left: number) => OperationStep;

const byPayment: Way = (minter, left) => {
  const { prng, provider } = minter;
  const body = { provider_id: provider, total_cents: drawAmount(prng), currency: 'USD' };
  return {
    ...request(minter, '/payments/intents', body),
    next: (answer) =>
      answer.status === 201
        ? confirmations(minter, { id: answer.body.id, times: prng.pick([2, 4, 8]), left })
        : mint(minter, left - AFTER_REFUSAL),
  };
};

interface Tries {
  readonly id: string;
  readonly times: number;
  readonly left: number;
}

const confirmations = (minter: Minter, { id, times, left }: Tries): OperationStep | undefined => {
  if (times === 0 || left <= 0) return mint(minter, left);
  const body = { payment_method_id: DECLINED_CARDS[minter.provider].atOnce };
  return {
    ...request(minter, `/payments/confirm/${id}`, body),
    next: ({ status }) =>
      confirmations(minter, { id, times: times - 1, left: left - (status === 429 ? AFTER_REFUSAL : 1) }),
  };
};

const bySaving: Way = (minter, left) => ({
  ...request(minter, '/payment-methods', {
    ...{ provider_id: minter.provider, provider_payment_method_token: DECLINED_CARDS[minter.provider].atOnce },
  }),
  next: ({ status }) => mint(minter, left - (status === 429 ? AFTER_REFUSAL : 1)),
});

const bySubscription: Way = (minter, left) => {
  const { saved, provider, prng } = minter;
  if (saved === undefined) {
    return {
      ...request(minter, '/payment-methods', {
        ...{ provider_id: provider, provider_payment_method_token: DECLINED_CARDS[provider].onceSaved },
      }),
      next: ({ status, body }) =>
        status === 201 ? bySubscription({ ...minter, saved: body }, left) : mint(minter, left - AFTER_REFUSAL),
    };
  }
  const total = drawAmount(prng);
  const terms = { subtotal_cents: total, total_cents: total, currency: 'USD', billing_interval: 'monthly' };
  const named = { customer_id: saved.customer_id, payment_method_id: saved.id, provider_id: provider };
  return {
    ...request(minter, '/subscriptions', { ...named, ...terms }),
    withoutToken: false,
    next: ({ status }) => mint(minter, left - (status === 402 ? 1 : AFTER_REFUSAL)),
  };
};

const WAYS = [
  { weight: 2, value: byPayment },
  { weight: 1, value: bySaving },
  { weight: 2, value: bySubscription },
] as const;

const mint = (minter: Minter, left: number): OperationStep | undefined =>
  left > 0 ? minter.prng.weighted(WAYS).value(minter, left) : afterwards(minter);

/** The guest with the named address pays, too. */
const afterwards = ({ prng, victim, provider }: Minter): OperationStep | undefined =>
  victim && {
    ...{ kind: 'request', person: victim, method: 'POST', path: '/payments/intents' },
    body: { provider_id: provider, total_cents: drawAmount(prng), currency: 'USD', ...asGuest(victim) },
    next: ({ status, body }) =>
      status === 201 ? confirmStep(victim, { id: body.id, fields: { ...body } }, prng) : undefined,
  };

const drawMinter = ({ prng, users }: Scene): Pick<Minter, 'person' | 'victim'> => {
  if (prng.chance(0.6)) return { person: prng.pick(users), victim: undefined };
  const person = prng.pick(GUESTS);
  return { person, victim: GUESTS.find((one) => one !== person) };
};

/** Applies only with rate limits, because otherwise the tries would only make the history long. */
const mintPayments: WorldOperation = {
  name: 'try stolen cards',
  weight: 8,
  plan: (scene) => {
    if (!scene.limits) return undefined;
    const { person, victim } = drawMinter(scene);
    const { prng } = scene;
    const minter = { prng: prng.fork('minter'), person, victim, provider: drawProvider(prng), saved: undefined };
    return mint(minter, MOST[victim ? 'guest' : 'user']);
  },
};

export const MINTING_OPERATIONS: readonly WorldOperation[] = [mintPayments];
