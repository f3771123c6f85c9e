import * as z from 'zod';
import { exampleRequests, PAYMENT_LINK } from '../../../functions/api/example-requests.ts';
import type { TestAnswer, TestHost } from '../host.ts';
import { tokenIn } from '../pages.ts';
import type { ParsedJson } from '../routes.ts';
import { type Documented, documentedIn } from './documented.ts';
import type { Steady } from './steadied.ts';

interface Walk {
  /** Operations that returned another status than the documented status. */
  readonly failures: readonly { readonly id: string; readonly status: number; readonly body: unknown }[];
  /** The steadied responses by operation, in the order of the document. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly count: number;
}

/** The response of this operation is the document itself. */
const DOCUMENT = 'api.openapi';

/** Sends the example of every operation unchanged, in the order of the document. */
export const walkDocument = async (service: TestHost, steady: Steady): Promise<Walk> => {
  const operations = documentedIn((await service.get('/openapi.json')).body);
  const failures: Walk['failures'][number][] = [];
  const answers: Record<string, unknown> = {};
  const pages = pagesOf(service);
  for (const operation of operations) {
    const { status, body } = await send(service, await pages.opened(operation));
    pages.answered(operation, body);
    if (status !== operation.status) failures.push({ id: operation.id, status, body });
    // The clock moves, because records of the same moment have no order in time.
    await service.settle();
    await service.advance(1);
    if (body !== undefined && operation.id !== DOCUMENT) answers[operation.id] = steady.shown(operation.id, body);
  }
  return { failures, answers, count: operations.length };
};

const providerEvent = z.object({
  id: z.string(),
  type: z.string(),
  provider: z.string(),
  data: z.object({ object: z.unknown() }),
  created: z.number(),
});

/** Adds the token of a hosted page to its operations, and the id of the created payment link to paths. */
const pagesOf = (service: TestHost) => {
  const bodies = new Map<string, ParsedJson>();
  const asAdmin = { session: 'demo-admin' };
  const tokenOf = async (path: string, body: object): Promise<string> => {
    const answer: ParsedJson = await service.post(path, body, asAdmin);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return tokenIn((answer.body.data ?? answer.body).url);
  };
  const tokenFor = async (id: string): Promise<string> => {
    if (id === 'pay.start') return tokenOf('/payment-links', { total_cents: 2_500, currency: 'EUR' });
    if (id === 'pay.state' || id === 'pay.confirm') return bodies.get('pay.start').token;
    return tokenOf(`/subscriptions/${exampleRequests['subscriptions.link']?.params?.['id']}/link`, {});
  };
  const opened = async (operation: Documented): Promise<Documented> => {
    const { id, path, headers } = operation;
    if (id.startsWith('pay.')) {
      const key = id === 'pay.start' && { 'idempotency-key': 'the key of the start of a link' };
      return { ...operation, headers: { ...headers, ...key, 'x-link-token': await tokenFor(id) } };
    }
    const made = bodies.get('payment-links.create')?.data.id;
    return { ...operation, path: made === undefined ? path : path.replace(PAYMENT_LINK.id, made) };
  };
  return { opened, answered: ({ id }: Documented, body: unknown) => void bodies.set(id, body) };
};

const send = (
  service: TestHost,
  { method, path, headers, body, session }: Documented,
): Promise<Pick<TestAnswer, 'status' | 'body'>> => {
  if (path.startsWith('/webhooks/provider_')) {
    const { data, ...event } = providerEvent.parse(body);
    return service.sendEvent({ ...event, object: data.object });
  }
  return service.request(method, path, {
    headers,
    ...(session !== undefined && { session }),
    ...(body !== undefined && { body }),
  });
};
