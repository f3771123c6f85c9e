import * as z from 'zod';
import type { TestAnswer, TestHost } from '../host.ts';
import { type Documented, documentedIn } from './documented.ts';
import type { Steady } from './steadied.ts';

interface Walk {
  /** Operations that returned another status than the documented status. */
  readonly failures: readonly { readonly id: string; readonly status: number; readonly body: unknown }[];
  /** The steadied responses by operation, in the order of the document. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly count: number;
}

/** Its response is the document itself. */
const DOCUMENT = 'api.openapi';

/** Sends the example of every operation as it stands, in the order of the document. */
export const walkDocument = async (service: TestHost, steady: Steady): Promise<Walk> => {
  const operations = documentedIn((await service.get('/openapi.json')).body);
  const failures: Walk['failures'][number][] = [];
  const answers: Record<string, unknown> = {};
  for (const operation of operations) {
    const { status, body } = await send(service, operation);
    if (status !== operation.status) failures.push({ id: operation.id, status, body });
    // Records of one moment have no order in time.
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
