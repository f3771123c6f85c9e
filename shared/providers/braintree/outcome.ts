import * as z from 'zod/mini';
import type { Outcome } from '../../core/outcome.ts';
import type { AdapterOptions } from '../adapter.ts';

/** Runs one call of the SDK and says what it came to: only an answer that certainly did nothing is a refusal. */
export type Call = (call: () => Promise<unknown>) => Promise<Outcome<unknown>>;

export const braintreeCalls =
  ({ slot, log, timeoutMs }: Pick<AdapterOptions, 'slot' | 'log' | 'timeoutMs'>): Call =>
  async (call) => {
    const startedAt = Date.now();
    const outcome = await withinDeadline(attempt(call), timeoutMs);
    log.info('provider called', {
      provider: slot,
      outcome: outcome.kind,
      duration_ms: Date.now() - startedAt,
      ...(outcome.kind === 'unknown' && { reason: outcome.reason }),
    });
    return outcome;
  };

/** The SDK's own limit is on silence alone: an answer that trickles in would have no end. */
const withinDeadline = async (call: Promise<Outcome<unknown>>, timeoutMs: number): Promise<Outcome<unknown>> => {
  const late = Promise.withResolvers<Outcome<unknown>>();
  const timer = setTimeout(() => late.resolve({ kind: 'unknown', reason: 'timeout' }), timeoutMs);
  try {
    return await Promise.race([call, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** What the SDK answers where Braintree refused the fields: it does not throw then. */
const refusedAnswer = z.looseObject({ success: z.literal(false) });
const collection = z.looseObject({ deepErrors: z.function({ input: [], output: z.unknown() }) });
const problems = z.array(z.looseObject({ code: z.string(), attribute: z.optional(z.string()) }));

const attempt = async (call: () => Promise<unknown>): Promise<Outcome<unknown>> => {
  try {
    const answer = await call();
    const refused = refusedAnswer.safeParse(answer);
    return refused.success ? refusalOf(refused.data['errors']) : { kind: 'done', value: answer };
  } catch (error) {
    return failureOf(error);
  }
};

const refusalOf = (errors: unknown): Outcome<never> => {
  const parsed = collection.safeParse(errors);
  const [problem] = z.catch(problems, []).parse(parsed.success ? parsed.data.deepErrors() : []);
  return { kind: 'refused', reason: problem?.code ?? 'unprocessable', parameter: problem?.attribute };
};

const SAYS_NO: readonly string[] = ['notFoundError', 'authenticationError', 'authorizationError', 'invalidKeysError'];

const failureOf = (error: unknown): Outcome<never> => {
  if (!(error instanceof Error)) return { kind: 'unknown', reason: 'error' };
  if (SAYS_NO.includes(error.name)) return { kind: 'refused', reason: error.name };
  if (error.message === 'Request timed out') return { kind: 'unknown', reason: 'timeout' };
  const unreachable = error.message.startsWith('Unexpected request error');
  return { kind: 'unknown', reason: unreachable ? 'unreachable' : 'error' };
};
