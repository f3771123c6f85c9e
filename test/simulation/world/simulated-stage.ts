import type { Kernel } from '../kernel/kernel.ts';
import { BASE_URL, NetworkError } from '../places/network.ts';
import type { SimulatedService } from '../places/service.ts';
import type { ClientRequest, StageAnswer, WorldStage } from './stage.ts';

/** Longer than any function's run. */
const PATIENCE_MS = 70_000;
const NO_ANSWER: StageAnswer = { status: 0, body: undefined };

/** The stage of a simulated run. Every request of a client is a step, but control routes are not. */
export const simulatedStage = (kernel: Kernel, service: SimulatedService): WorldStage => ({
  now: kernel.now,
  wait: (ms) => (ms === 0 ? Promise.resolve() : new Promise((resolve) => void setTimeout(resolve, ms))),
  request: (request) => Promise.race([send(service, request).catch(lostAnswer), givenUp()]),
  control: async (request) => {
    const url = new URL(`${BASE_URL}${request.path}`);
    const answer = await service.parts.local({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      headers: headersOf(request),
      body: Buffer.from(textOf(request.body)),
      signal: undefined,
    });
    return answer ? { status: answer.status, body: parsed(answer.body) } : NO_ANSWER;
  },
});

const send = async (service: SimulatedService, request: ClientRequest): Promise<StageAnswer> => {
  const { status, headers, body } = await service.send({
    method: request.method,
    url: `${BASE_URL}${request.path}`,
    headers: headersOf(request),
    body: textOf(request.body),
    ...(request.from !== undefined && { from: request.from }),
  });
  const total = headers['x-total-count'];
  return { status, body: parsed(body), totalCount: total === undefined ? undefined : Number(total) };
};

const givenUp = (): Promise<StageAnswer> =>
  new Promise((resolve) => void setTimeout(() => resolve(NO_ANSWER), PATIENCE_MS).unref());

const lostAnswer = (error: unknown): StageAnswer => {
  if (error instanceof NetworkError) return NO_ANSWER;
  throw error;
};

const headersOf = ({ headers = {}, body }: ClientRequest): Record<string, string> => ({
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...headers,
});

const textOf = (body: unknown): string => {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
};

const parsed = (text: string | Uint8Array): StageAnswer['body'] => {
  const read = String(text);
  try {
    return read === '' ? undefined : JSON.parse(read);
  } catch {
    return read;
  }
};
