import { beforeAll, describe, expect, inject, test } from 'vitest';
import { VISA } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { confirmInBrowser, createIntent, itemsOf, PATIENT, signIn } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';

/**
 * Every order in which six events of one payment can arrive; one of them comes twice, and in the end one once more as
 * another event. Events of one type differ only in their id and second, which have no effect here: so orders that
 * differ in nothing else are run once, but for those with a final event in `npm run test:long`. `npm test` runs a
 * third.
 */
const service = withHost({ frozen: true, env: PATIENT });

interface EventSet {
  readonly name: string;
  /** As the provider truly sent them, oldest first. */
  readonly types: readonly string[];
  readonly orders: readonly (readonly number[])[];
  readonly end: string;
}

const permutationsOf = (items: readonly number[]): number[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, at) => permutationsOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
const PERMUTATIONS = permutationsOf([0, 1, 2, 3, 4, 5]);

const differentOrders = (types: readonly string[]): readonly number[][] => [
  ...new Map(PERMUTATIONS.map((order) => [order.map((event) => types[event]).join(), order])).values(),
];

/** Every order in `npm run test:long`, else every third of those that differ. */
const someOrders = (types: readonly string[]): readonly number[][] =>
  differentOrders(types).filter((_, index) => inject('scale') > 1 || index % 3 === 0);

const everyOrder = (types: readonly string[]): readonly number[][] =>
  inject('scale') > 1 ? PERMUTATIONS : someOrders(types);

const PAID = ['requires_action', 'payment_failed', 'requires_action', 'payment_failed', 'processing', 'succeeded'];
const UNDER_WAY = ['requires_action', 'processing', 'requires_action', 'processing', 'requires_action', 'processing'];
const FAILED = ['requires_action', 'payment_failed', 'processing', 'payment_failed', 'requires_action', 'processing'];

const SETS: readonly EventSet[] = [
  { name: 'with a final event', types: PAID, orders: everyOrder(PAID), end: 'succeeded' },
  { name: 'without a final event', types: UNDER_WAY, orders: someOrders(UNDER_WAY), end: 'processing' },
  { name: 'of attempts that failed', types: FAILED, orders: someOrders(FAILED), end: 'failed' },
];

/** A payment and the order in which its six events arrive. */
interface Story {
  readonly payment: ParsedJson;
  readonly set: EventSet;
  readonly order: readonly number[];
}

const AT_ONCE = 40;
/** Events sent before the test waits for all of them. */
const AT_REST = 200;
const all = async <T, R>(items: readonly T[], task: (item: T, index: number) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item, index) => task(item, at + index)))));
  }
  return results;
};

let stories: Story[] = [];
let records = new Map<string, ParsedJson>();

const sendEvent = ({ payment, set }: Story, event: number, { id, times }: { id: string; times: number }) => {
  const created = Math.floor(service.now() / 1_000) - 60 + event;
  const type = `payment_intent.${set.types[event]}`;
  return service.sendEvent(intentEvent(payment, type, { vocabulary: 'native', id, created, times }));
};

beforeAll(async () => {
  await service.webhookMode('drop');
  const user = await signIn(service);
  await createIntent(service, user);
  const wanted = SETS.flatMap((set) => set.orders.map((order) => ({ set, order })));
  stories = await all(wanted, async ({ set, order }) => {
    const payment = await createIntent(service, user);
    if (set.end === 'succeeded') await confirmInBrowser(service, payment, VISA);
    return { payment, set, order };
  });
  for (let place = 0; place < 6; place += 1) {
    for (let at = 0; at < stories.length; at += AT_REST) {
      await all(stories.slice(at, at + AT_REST), async (story, index) => {
        const event = story.order[place] ?? 0;
        const times = event === index % 6 ? 2 : 1;
        const answer = await sendEvent(story, event, { id: `evt_${event}_${story.payment.id}`, times });
        expect(answer).toMatchObject({ status: 200, body: times > 1 ? { duplicate: true } : { received: true } });
      });
      await service.settle();
    }
  }
  const some = stories.filter((_, index) => index % 7 === 0);
  await all(some, (story, index) => sendEvent(story, index % 6, { id: `evt_more_${story.payment.id}`, times: 1 }));
  await service.settle();
  const items = await itemsOf(service, 'PAY#');
  records = new Map(items.filter(({ sk }) => sk === 'PAY').map((item) => [item.pk, item]));
}, 240_000);

/** All fields of a record but its ids, its version, the event behind it, and its due times. */
const stateOf = ({ payment }: Story): unknown => {
  const record = records.get(`PAY#${payment.id}`);
  const { pk, providerIntentId, providerPaymentId, clientSecret, sort, version, rq, ...state } = record;
  const { due, due_at, reconcileAt, reconcileStep, ...rest } = state;
  return rest;
};

describe.each(SETS)('six events $name', (set) => {
  const ofSet = () => stories.filter((story) => story.set === set);

  test('lead to one state in any order', () => {
    const [first] = ofSet();
    if (!first) throw new Error('no event was sent');
    expect(stateOf(first)).toMatchObject({ status: set.end });
    for (const story of ofSet()) {
      expect({ order: story.order, state: stateOf(story) }).toEqual({ order: story.order, state: stateOf(first) });
    }
    expect(ofSet()).toHaveLength(set.orders.length);
  });

  const expectedEvents = (order: readonly number[]): readonly string[] => {
    const types = order.map((event) => set.types[event]);
    const [failed, paid] = [types.indexOf('payment_failed'), types.indexOf('succeeded')];
    const expected = ['payment.created'];
    if (failed >= 0 && (paid < 0 || failed < paid)) expected.push('payment.failed');
    if (paid >= 0) expected.push('payment.succeeded');
    return expected;
  };

  test('publish one event per change of the payment, and no other event', async () => {
    const said = new Map<string, string[]>();
    for (const event of await service.busEvents()) {
      if (event.source !== 'payments') continue;
      const id = (event.detail as ParsedJson).payload.data.payment_id;
      said.set(id, [...(said.get(id) ?? []), event['detail-type']]);
    }
    for (const { payment, order } of ofSet()) {
      expect({ order, said: said.get(payment.id) }).toEqual({ order, said: expectedEvents(order) });
    }
  });
});
