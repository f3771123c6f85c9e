import { expect } from 'vitest';
import type { FaultAction } from '../../infra/simulator/protocol/faults.ts';
import { HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, read, signIn, timesCharged } from './flow.ts';
import { capture, HOLDING, type Holding, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import type { RequestOptions, TestAnswer, TestHost } from './host.ts';
import { changeTo, plan, subscribed } from './plan-changes.ts';
import { paidPayment, refund, refundsAtProvider, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';
import type { Stop, Stoppable } from './stops.ts';
import { anotherMethod, patch, paymentsOf, readSubscription } from './subscribers.ts';

/** Commands that may end after their response, their possible faults, and the required final state. */
export interface CommandSubject {
  /** The id of the command's record. */
  readonly id: string;
  /** Sends the command. */
  readonly ask: (options: RequestOptions) => Promise<TestAnswer>;
  /** The events that report the command's end. */
  readonly ends: () => Promise<readonly string[]>;
  /** The number of the command's effects at the provider. */
  readonly effects: () => Promise<number>;
}

export interface CommandKind {
  readonly name: 'hold' | 'capture' | 'part capture' | 'release' | 'refund' | 'confirm' | 'change';
  /** The events of success and failure. Of failures reported in the response, only `payment.failed` has an event. */
  readonly done: string;
  readonly failed: string;
  /** A part of the path of the command's call to the provider. */
  readonly path: string;
  /** Matches the command's call to the provider among all calls of the function. */
  readonly call: RegExp;
  /** Number of calls per command with this part in their path; 1 if absent. */
  readonly calls?: number;
  /** The index of the claiming write among the writes before the call; the last of these by default. */
  readonly claimedBy?: number;
  readonly isDone: (body: ParsedJson) => boolean;
  /** True if a decline ends the command only after a read. */
  readonly declineNeedsRead?: true;
  /** Test methods declined in the response and after it; undefined if the provider has no such method. */
  readonly declined?: string;
  readonly declinedLater?: string;
  readonly begin: (service: TestHost, method?: string) => Promise<CommandSubject>;
}

const LONG = { expires_in: YEAR_SECONDS };

const paymentEvents = async (service: TestHost, id: string, names: readonly string[]): Promise<readonly string[]> =>
  (await service.busEvents())
    .filter((event) => names.includes(event['detail-type']))
    .filter((event) => event.detail.payload.data.payment_id === id)
    .map((event) => event['detail-type']);

const PART = 600;

const HOLD_ENDS = {
  capture: { ask: capture, body: {}, events: ['payment.succeeded', 'payment.capture_failed'], status: 'succeeded' },
  'part capture': {
    ...{ ask: capture, body: { amount_cents: PART } },
    ...{ events: ['payment.succeeded', 'payment.capture_failed'], status: 'succeeded' },
  },
  release: { ask: release, body: {}, events: ['payment.released', 'payment.release_failed'], status: 'canceled' },
} as const;

/** The captured and the released part of a hold of 10.00 at the provider. */
const HELD_AFTER = { capture: [1_000, 0], 'part capture': [PART, 1_000 - PART], release: [0, 1_000] } as const;

const ofHold = (name: keyof typeof HOLD_ENDS, holding: Holding): CommandKind => {
  const { ask, body, events, status } = HOLD_ENDS[name];
  const isCapture = name !== 'release';
  return {
    ...{ name, done: events[0], failed: events[1], path: isCapture ? holding.capturePath : holding.releasePath },
    call: isCapture ? /\/capture$/ : /\/cancel$/,
    isDone: (payment) => payment.status === status,
    ...(isCapture && { declined: holding.captureDeclined, declineNeedsRead: true as const }),
    ...(name === 'capture' && holding.slot === 'provider_b' && { declinedLater: 'SIM-CAPTURE-PENDING-FAIL' }),
    begin: async (service, method = holding.method) => {
      const [user, admin] = [await signIn(service, LONG), await signInAdmin(service)];
      const { id } = await heldPayment(service, user, { holding: { ...holding, method } });
      return {
        id,
        ask: (options) => ask(service, id, { ...admin.options, body, ...options }),
        ends: () => paymentEvents(service, id, events),
        effects: async () => {
          const holds = await holdsAtProvider(service, id);
          const ended = holds.filter(({ captured, released }) => captured + released > 0);
          const payment = await read(service, id, admin.options);
          if (HELD_AFTER[name][0] > 0 && ended.length > 0)
            expect(payment).toMatchObject({ captured_cents: HELD_AFTER[name][0] });
          expect(ended.map(({ captured, released }) => [captured, released])).toEqual(
            ended.map(() => HELD_AFTER[name]),
          );
          return ended.length;
        },
      };
    },
  };
};

interface Place {
  readonly holding: Holding;
  readonly refundPath: string;
  readonly refundFails: string | undefined;
  readonly confirmPath: string;
  readonly declined: string;
  readonly declinedLater: string | undefined;
}

const [STRIPE, PAYPAL, SQUARE] = HOLDING as readonly [Holding, Holding, Holding];
export const COMMAND_PLACES: readonly [Place, Place, Place] = [
  {
    ...{ holding: STRIPE, refundPath: '/v1/refunds', confirmPath: '/confirm' },
    ...{ refundFails: 'pm_sim_pending_refund_fail', declined: 'pm_card_visa_chargeDeclined' },
    declinedLater: 'pm_sim_processing_fail',
  },
  {
    ...{ holding: PAYPAL, refundPath: '/refund', confirmPath: '/capture' },
    ...{ refundFails: 'SIM-REFUND-PENDING-FAIL', declined: 'SIM-DECLINED', declinedLater: 'SIM-PENDING-FAIL' },
  },
  {
    ...{ holding: SQUARE, refundPath: '/v2/refunds', confirmPath: '/v2/payments' },
    ...{ refundFails: undefined, declined: 'cnon:card-nonce-declined', declinedLater: undefined },
  },
];

const refundAt = ({ holding, refundPath, refundFails }: Place): CommandKind => ({
  ...{ name: 'refund', done: 'payment.refunded', failed: 'payment.refund_failed', path: refundPath },
  ...{ call: /\/refunds$/, isDone: ({ status }) => status === 'succeeded' },
  ...(refundFails && { declinedLater: refundFails }),
  begin: async (service, method = holding.method) => {
    const [user, admin] = [await signIn(service, LONG), await signInAdmin(service)];
    const { id } = await paidPayment(service, user, { paying: [holding.slot, method] });
    return {
      id,
      ask: (options) => refund(service, id, { ...admin.options, ...options }),
      ends: () => paymentEvents(service, id, ['payment.refunded', 'payment.refund_failed']),
      effects: async () => (await refundsAtProvider(service, id)).filter(({ status }) => status === 'succeeded').length,
    };
  },
});

const confirmAt = ({ holding, confirmPath, declined, declinedLater }: Place): CommandKind => ({
  ...{ name: 'confirm', done: 'payment.succeeded', failed: 'payment.failed', path: confirmPath },
  ...{ call: /\/confirm$/, declined, isDone: ({ status }) => status === 'succeeded' },
  ...(declinedLater && { declinedLater }),
  begin: async (service, method = holding.method) => {
    const user = await signIn(service, LONG);
    const { id } = await createIntent(service, user, { provider_id: holding.slot, payment_method_id: method });
    return {
      id,
      ask: (options) => confirm(service, id, { ...user.options, ...options }),
      ends: () => paymentEvents(service, id, ['payment.succeeded', 'payment.failed']),
      effects: () => timesCharged(service, id),
    };
  },
});

const holdAt = ({ holding, declined }: Place): CommandKind => ({
  ...{ name: 'hold', done: 'payment.authorized', failed: 'payment.failed', path: holding.holdPath },
  ...{ call: /\/confirm$/, declined, isDone: ({ status }) => status === 'requires_capture' },
  begin: async (service, method = holding.method) => {
    const user = await signIn(service, LONG);
    const { id } = await createIntent(service, user, manualBody({ ...holding, method }));
    return {
      id,
      ask: (options) => confirm(service, id, { ...user.options, ...options }),
      ends: () => paymentEvents(service, id, ['payment.authorized', 'payment.failed']),
      effects: async () => (await holdsAtProvider(service, id)).length,
    };
  },
});

const change: CommandKind = {
  ...{ name: 'change', done: 'plan_changed', failed: 'plan_change_failed', path: '/v1/payment_intents' },
  ...{ call: /\/confirm$|payment_intents$/, declined: 'pm_card_chargeCustomerFail', calls: 2 },
  ...{ claimedBy: 1, isDone: ({ total_cents }) => total_cents === 3_000 },
  begin: async (service, method) => {
    const [old, dear] = [await plan(service, 1_000), await plan(service, 3_000)];
    const { who, id } = await subscribed(service, { slot: 'provider_a', token: 'pm_card_visa' }, { product_id: old });
    await service.advance(HOUR_SECONDS);
    if (method)
      await patch(service, who, { id, body: { payment_method_id: await anotherMethod(service, who, method) } });
    return {
      id,
      ask: ({ body: _, ...options }) =>
        changeTo(
          service,
          { who: { ...who, options: { ...who.options, ...options } }, id },
          { product_id: dear, when: 'now' },
        ),
      ends: async () =>
        (await service.busEvents('subscription.updated'))
          .map((event) => event.detail.payload.data)
          .filter((data) => data.subscription_id === id && /^plan_change/.test(data.reason ?? ''))
          .map((data) => data.reason),
      effects: async () => {
        const { total_cents } = await readSubscription(service, who, id);
        const paid = (await paymentsOf(service, who, id)).filter(
          ({ billing_reason, status }) => billing_reason === 'subscription_change' && status === 'succeeded',
        );
        expect(paid.length).toBe(total_cents === 3_000 ? 1 : 0);
        return paid.length;
      },
    };
  },
};

/** The kinds of commands to test at a provider. A plan change is tested at Stripe only. */
export const kindsAt = (place: Place): readonly CommandKind[] => [
  holdAt(place),
  ofHold('capture', place.holding),
  ofHold('part capture', place.holding),
  ofHold('release', place.holding),
  refundAt(place),
  confirmAt(place),
  ...(place === COMMAND_PLACES[0] ? [change] : []),
];

/** The points at which the function of a command is killed. */
export const KILLS = ['before the claim', 'after the claim', 'after the call', 'after the outcome is stored'] as const;

const WRITES = new Set(['PutItem', 'UpdateItem', 'TransactWriteItems']);

/** Finds the stop for a point in the calls of another command of the same kind. */
export const stopAt = async (
  { service, watch }: Stoppable,
  kind: CommandKind,
  point: (typeof KILLS)[number],
): Promise<Stop> => {
  const { ask } = await kind.begin(service);
  const calls = await watch(() => ask({ idempotencyKey: 'watched' }));
  const call = calls.findIndex((name) => name.startsWith('POST') && kind.call.test(name));
  const writes = [...calls.slice(0, call).entries()].flatMap(([at, name]) => (WRITES.has(name) ? [at] : []));
  // The first write claims the key. In a plan change, later writes claim the change and then its payment.
  const claim = writes.at(kind.claimedBy ?? -1) ?? -1;
  const stored = call + 1 + calls.slice(call + 1).findIndex((name) => WRITES.has(name));
  if (call < 0 || claim < 0 || stored <= call) throw new Error(`no such point in ${calls.join(', ')}`);
  switch (point) {
    case 'before the claim':
      return { call: claim + 1, executed: false };
    case 'after the claim':
      return { call: claim + 1, executed: true };
    case 'after the call':
      return { call: call + 1, executed: true };
    case 'after the outcome is stored':
      return { call: stored + 1, executed: true };
  }
};

let keys = 0;

/** A new key for each command. */
export const underNewKey = (): { readonly idempotencyKey: string } => {
  keys += 1;
  return { idempotencyKey: `command-${keys}` };
};

/** Moves the clock past the last retry of a call whose outcome is unknown. */
export const untilItsEnd = async (service: TestHost): Promise<void> => {
  for (const minutes of [2, 5, 30, 90, 120]) {
    await service.advance(minutes * MINUTE_SECONDS);
    await service.settle();
  }
};

interface Ended {
  readonly kind: CommandKind;
  readonly subject: CommandSubject;
  readonly options: RequestOptions;
  /** The first response. After a kill: `claimed` if the command was already claimed, else undefined. */
  readonly answer: TestAnswer | 'claimed' | undefined;
}

const isDone = (kind: CommandKind, { status, body }: TestAnswer): boolean =>
  (status === 200 || status === 201) && kind.isDone(body);

const shortly = (answer: Ended['answer']): string =>
  typeof answer === 'object' ? `${answer.status} ${JSON.stringify(answer.body).slice(0, 80)}` : String(answer);

/**
 * Expects the first response to be 202 (pending), or 503 if the call certainly did not happen. Skips commands with
 * several calls. Skips partial captures, because they take two calls at Square.
 */
export const expectFirst = ({ name, calls }: CommandKind, action: FaultAction, { status }: TestAnswer): void => {
  if (calls !== undefined || name === 'part capture') return;
  expect({ action, status }).toEqual({ action, status: action === 'rate_limit' ? 503 : 202 });
};

/** The calls of the command that have reached the provider since its requests were cleared. */
export const callsOf = async (service: TestHost, kind: CommandKind): Promise<number> =>
  (await service.providerRequests()).filter(({ method, path }) => method === 'POST' && path.includes(kind.path)).length;

/** Errors of a request while another request runs the same command. */
const BESIDE_ANOTHER = new Set([
  'IDEMPOTENCY_IN_PROGRESS',
  'INVALID_STATE',
  'PAYMENT_IN_PROGRESS',
  'REFUND_EXCEEDS_PAYMENT',
  'VERSION_CONFLICT',
]);

/**
 * Expects several requests to run one command: the provider calls of one, one effect and one event. Each response is
 * the result or a known error.
 */
export const expectOneOf = async (
  service: TestHost,
  { kind, subject, answers }: Pick<Ended, 'kind' | 'subject'> & { readonly answers: readonly TestAnswer[] },
): Promise<void> => {
  // A repeated refund under its key may return the pending refund.
  const others = answers.filter((answer) => !isDone(kind, answer) && answer.body.status !== 'pending');
  expect(others.length).toBeLessThan(answers.length);
  expect(others.filter(({ body }) => !BESIDE_ANOTHER.has(body.code)).map(shortly)).toEqual([]);
  for (const { headers, body } of others)
    if (body.code === 'IDEMPOTENCY_IN_PROGRESS') expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  await service.settle();
  expect(await callsOf(service, kind)).toBe(kind.calls ?? 1);
  await untilItsEnd(service);
  expect(await subject.ends()).toEqual([kind.done]);
  expect(await subject.effects()).toBe(1);
};

/**
 * Expects one event for the command's end. A repeated request returns this end, or runs the command if it had no
 * effect.
 */
export const expectOneEnd = async (service: TestHost, { kind, subject, options, answer }: Ended): Promise<void> => {
  const [ends, effects] = [await subject.ends(), await subject.effects()];
  const { done, failed } = kind;
  expect(effects).toBeLessThanOrEqual(1);
  // A status other than 202, or a kill before the claim, leaves nothing pending.
  const wasOpen = answer === 'claimed' || answer?.status === 202;
  expect({ answer: shortly(answer), ends }).toEqual({
    answer: shortly(answer),
    ends: effects > 0 ? [done] : wasOpen ? [failed] : [],
  });
  const repeated = await subject.ask(options);
  await service.settle();
  // Square completes a refund some time after its response.
  if (repeated.body.status === 'pending') await untilItsEnd(service);
  const again = repeated.body.status === 'pending' ? await subject.ask(options) : repeated;
  if (effects > 0) {
    expect(isDone(kind, again), `${again.status} ${JSON.stringify(again.body)}`).toBe(true);
    expect(await subject.ends()).toEqual(ends);
  } else if (kind.name === 'refund' && ends.length > 0) {
    expect(again).toMatchObject({ body: { status: 'failed' } });
  } else {
    expect(isDone(kind, again), `${again.status} ${JSON.stringify(again.body)}`).toBe(true);
    expect(await subject.ends()).toEqual([...ends, done]);
  }
  expect(await subject.effects()).toBe(effects > 0 || isDone(kind, again) ? 1 : 0);
};
