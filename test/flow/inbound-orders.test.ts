import { beforeAll, describe, expect, test } from 'vitest';
import { intentBody, VISA } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { confirmInBrowser, itemsOf, PATIENT, signIn } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';

/** Every order in which six events of one payment can arrive; one comes thrice, and at last once more as another event. */
const service = withHost({ frozen: true, env: PATIENT });

/** What a provider truly sent, in its own order; the seconds before now tell when. */
const SETS = {
  'with a final event': {
    types: ['requires_action', 'payment_failed', 'requires_action', 'payment_failed', 'processing', 'succeeded'],
    paid: true,
    end: 'succeeded',
  },
  'without a final event': {
    types: ['requires_action', 'processing', 'requires_action', 'processing', 'requires_action', 'processing'],
    paid: false,
    end: 'processing',
  },
} as const;
type SetName = keyof typeof SETS;

const permutationsOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, at) => permutationsOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));

const AT_ONCE = 120;
const all = async <T, R>(items: readonly T[], task: (item: T, index: number) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map((item, index) => task(item, at + index)))));
  }
  return results;
};

/** A payment and the order in which it hears of its six events. */
interface Story {
  readonly payment: ParsedJson;
  readonly set: SetName;
  readonly order: readonly number[];
}

const ORDERS = permutationsOf([0, 1, 2, 3, 4, 5]);
let stories: Story[] = [];
let records = new Map<string, ParsedJson>();

const tell = (story: Story, event: number, id: string, times: number) => {
  const type = `payment_intent.${SETS[story.set].types[event]}`;
  const created = Math.floor(service.now() / 1_000) - 60 + event;
  return service.sendEvent(intentEvent(story.payment, type, { vocabulary: 'native', id, created, times }));
};

beforeAll(async () => {
  await service.webhookMode('drop');
  const user = await signIn(service);
  const names: SetName[] = ['with a final event', 'without a final event'];
  const wanted = names.flatMap((set) => ORDERS.map((order) => ({ set, order })));
  stories = await all(wanted, async ({ set, order }) => {
    const { body: payment } = await service.post('/payments/intents', intentBody(), user.options);
    if (SETS[set].paid) await confirmInBrowser(service, payment, VISA);
    return { payment, set, order };
  });
  for (let place = 0; place < 6; place += 1) {
    await all(stories, async (story, index) => {
      const event = story.order[place] ?? 0;
      const duplicate = event === index % 6;
      const answer = await tell(story, event, `evt_${event}_${story.payment.id}`, duplicate ? 3 : 1);
      expect(answer).toMatchObject({ status: 200, body: duplicate ? { duplicate: true } : { received: true } });
    });
    await service.settle();
  }
  await all(stories, (story, index) => tell(story, index % 6, `evt_more_${story.payment.id}`, 1));
  await service.settle();
  const items = await itemsOf(service, 'PAY#');
  records = new Map(items.filter(({ sk }) => sk === 'PAY').map((item) => [item.id, item]));
}, 120_000);

/** What readers can tell from a record: everything but its own names, its version and its appointments. */
const stateOf = ({ payment }: Story): unknown => {
  const { pk, id, providerIntentId, providerPaymentId, clientSecret, sort, version, due, due_at, ...state } =
    records.get(payment.id);
  const { reconcileAt: _at, reconcileStep: _step, ...rest } = state;
  return rest;
};

describe.each(Object.entries(SETS))('720 orders of six events %s', (name, { end, types }) => {
  const ofSet = () => stories.filter(({ set }) => set === name);

  test('end in one state', () => {
    const [first] = ofSet();
    expect(first && stateOf(first)).toMatchObject({ status: end });
    for (const story of ofSet()) {
      expect({ order: story.order, state: stateOf(story) }).toEqual({
        order: story.order,
        state: first && stateOf(first),
      });
    }
    expect(ofSet()).toHaveLength(720);
  });

  test('say once what became of the payment, and nothing that did not', () => {
    const said = new Map<string, string[]>();
    for (const event of service.busEvents()) {
      if (event.source !== 'payments') continue;
      const detail = event.detail as ParsedJson;
      const id = detail.payload.data.payment_id;
      said.set(id, [...(said.get(id) ?? []), event['detail-type']]);
    }
    for (const { payment, order } of ofSet()) {
      const heard = order.map((event) => types[event]);
      const failedFirst = end === 'succeeded' && heard.indexOf('payment_failed') < heard.indexOf('succeeded');
      expect({ heard, said: said.get(payment.id) }).toEqual({
        heard,
        said: [
          'payment.created',
          ...(failedFirst ? ['payment.failed'] : []),
          ...(end === 'succeeded' ? ['payment.succeeded'] : []),
        ],
      });
    }
  });
});
