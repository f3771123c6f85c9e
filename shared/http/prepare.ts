import type * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import type { Endpoint } from './endpoint.ts';
import type { WebDeps } from './exchange.ts';
import { checkAll } from './parse.ts';

/**
 * What a function does while it starts, so that its first request need not: Lambda gives a starting function a whole
 * processor, and afterwards the share of its memory. It builds the dependencies and the schemas of a request, loads the
 * adapters of the providers and reads their secrets. Never rejects: the first request meets and reports the same failure.
 */
export const prepare = async <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R, D extends WebDeps>(
  spec: Endpoint<P, Q, B, R>,
  depsOf: () => D,
): Promise<void> => {
  try {
    // Only those that the function may read: another one would be refused at every start.
    const slots = PROVIDER_SLOTS.filter((slot) => spec.uses.includes(`secrets:${slot}`));
    const opened = depsOf().prepare?.(slots);
    parseNothing(spec);
    await opened;
  } catch {}
};

const parseNothing = (spec: Parameters<typeof checkAll>[0]): void => {
  try {
    checkAll(spec, { params: {}, query: {}, body: {} });
  } catch {
    // Most requests have fields that must be there.
  }
};
