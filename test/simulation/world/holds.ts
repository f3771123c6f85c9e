/** @module Merchants hold amounts, capture or release them, and forget some. Payers try to do the same. */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { type AskedRequest, choose, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { drawAmount, drawPayer } from './payments.ts';
import { MERCHANTS, ROOT, type WorldProvider } from './people.ts';
import type { StageAnswer } from './stage.ts';

const HELD = 'requires_capture';

/** Cards that support holds. Some holds end within an hour, and some banks decline the capture. */
const TOKENS: Readonly<Record<WorldProvider, readonly string[]>> = {
  provider_a: ['pm_card_visa', 'pm_card_visa', 'pm_sim_capture_declined', 'pm_sim_hold_1h', 'pm_sim_timeout_after'],
  provider_b: ['SIM-OK', 'SIM-OK', 'SIM-CAPTURE-DECLINED', 'SIM-HOLD-1H', 'SIM-TIMEOUT-AFTER'],
  provider_c: [
    ...['cnon:card-nonce-ok', 'cnon:card-nonce-ok', 'cnon:sim-capture-declined'],
    ...['cnon:sim-hold-1h', 'cnon:sim-timeout-after'],
  ],
};

const PART = [0.3, 0.6, 0.9] as const;

/** The whole hold, a part, a part with its own tax, or sometimes more than the hold. */
const drawPrices = (prng: Prng, total: number): Readonly<Record<string, unknown>> => {
  const part = Math.max(1, Math.round(total * prng.pick(PART)));
  return prng.weighted([
    { weight: 4, value: {} },
    { weight: 4, value: { amount_cents: part } },
    { weight: 2, value: { total_cents: part, tax_cents: 0, discount_cents: 0 } },
    { weight: 1, value: { amount_cents: total + prng.int(1, 500) } },
  ]).value;
};

type Held = Pick<Known, 'id' | 'fields'>;

const captureBy = (person: Person, { id, fields }: Held, prng: Prng): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path: `/payments/${id}/capture` },
  body: drawPrices(prng, Number(fields['authorized_cents'] ?? fields['total_cents'] ?? 500)),
});

const releaseBy = (person: Person, { id }: Held): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path: `/payments/intents/${id}/cancel` },
  body: {},
});

/** A request that should end the hold. A payer mostly cancels, as payers do with ordinary payments. */
export const endHoldBy = (person: Person, held: Held, prng: Prng): AskedRequest =>
  prng.chance(MERCHANTS.includes(person) ? 0.7 : 0.3) ? captureBy(person, held, prng) : releaseBy(person, held);

/** The probability that the merchant acts. If a payer acts instead, the request is refused. */
const MERCHANT = 0.8;

/** Chooses a payment, mostly with a held amount. Sometimes its hold has ended, or it never had a hold. */
const chooseHeld = (scene: Scene, person: Person): Known | undefined => {
  if (person !== ROOT) {
    return choose(scene, { kind: 'payment', person: person.name, fits: ({ status }) => status === HELD });
  }
  const isAny = scene.prng.chance(0.1);
  const held = scene.knowledge
    .all('payment')
    .filter(({ fields }) => fields['capture_method'] === 'manual' && (isAny || fields['status'] === HELD))
    .slice(-scene.latest);
  return held.length === 0 ? undefined : scene.prng.pick(held);
};

const holdAmount: WorldOperation = {
  name: 'hold an amount',
  weight: 10,
  plan: (scene) => {
    const { prng } = scene;
    const person = drawPayer(scene);
    const provider = prng.pick(['provider_a', 'provider_b', 'provider_c'] as const);
    const token = prng.pick(TOKENS[provider]);
    const isEndedAtOnce = prng.chance(0.6);
    const ender = prng.chance(MERCHANT) ? ROOT : person;
    const end = ({ body }: StageAnswer): OperationStep | undefined =>
      body?.status === HELD && isEndedAtOnce ? endHoldBy(ender, { id: body.id, fields: body }, prng) : undefined;
    const confirm = ({ status, body }: StageAnswer): OperationStep | undefined =>
      status === 201
        ? { kind: 'request', person, method: 'POST', path: `/payments/confirm/${body.id}`, body: {}, next: end }
        : undefined;
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: '/payments/intents',
      body: {
        ...{ provider_id: provider, payment_method_id: token, total_cents: drawAmount(prng), currency: 'USD' },
        capture_method: 'manual',
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
      next: confirm,
    };
  },
};

const endHold: WorldOperation = {
  name: 'capture or release a hold',
  weight: 14,
  twice: 0.4,
  // Only one of two concurrent captures, or of a concurrent capture and release, ends the hold.
  again: (step, prng) => {
    const id = step.kind === 'request' && /^\/payments\/(?:intents\/)?([^/]+)\//.exec(step.path)?.[1];
    return id ? endHoldBy(ROOT, { id, fields: {} }, prng) : step;
  },
  plan: (scene) => {
    const person = scene.prng.chance(MERCHANT) ? ROOT : scene.prng.pick(scene.users);
    const held = chooseHeld(scene, person);
    return held && endHoldBy(person, held, scene.prng);
  },
};

const releaseAtProvider: WorldOperation = {
  name: 'release a hold at the provider',
  weight: 2,
  plan: (scene) => {
    const held = chooseHeld(scene, ROOT);
    return held && { kind: 'act', path: `/simulator/payments/${held.id}/release` };
  },
};

export const HOLD_OPERATIONS: readonly WorldOperation[] = [holdAmount, endHold, releaseAtProvider];
