/**
 * @module The set-up of a payment method that its payer must authenticate before the provider attaches it. Completion
 * removes the set-up with its client secret. A set-up never moves from `failed` back to `requires_action`.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { DAY_MS, type Instant, instant, iso } from '../core/time.ts';
import type { OpenSetup } from '../providers/method-port.ts';

export const SETUP_STATUSES = ['succeeded', 'requires_action', 'failed'] as const;

export const openSetupSchema = z.object({
  id: z.string(),
  /** After a failure, the payer may try again with the client secret. */
  status: z.enum(['requires_action', 'failed']),
  clientSecret: z.string().optional(),
  nextAction: z
    .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
    .optional(),
  /** The method becomes the default once it is set up. */
  wantsDefault: z.literal(true).optional(),
  /** The subscription that gets the method once it is set up. */
  subscriptionId: z.string().optional(),
});
type Setup = z.infer<typeof openSetupSchema>;

interface SetUp {
  readonly createdAt: string;
  readonly setup?: Setup | undefined;
}

export const newSetup = (open: OpenSetup | undefined, wantsDefault: boolean): Setup | undefined =>
  open && {
    id: open.setupId,
    status: 'requires_action',
    clientSecret: open.clientSecret,
    nextAction: open.nextAction && { type: open.nextAction.type, url: open.nextAction.url },
    wantsDefault: wantsDefault ? true : undefined,
  };

const SETUP_PERIOD_MS = DAY_MS;

/** The time at which the set-up expires, as an ISO string; undefined if the method is set up. */
export const setupEndsAt = ({ createdAt, setup }: SetUp): string | undefined =>
  setup && iso(instant(createdAt) + SETUP_PERIOD_MS);

/** @throws DomainError INVALID_STATE if the payer still has to authenticate the method */
export const requireSetUp = ({ setup }: SetUp): void => {
  if (setup === undefined) return;
  throw new DomainError('INVALID_STATE', {
    message: 'The payment method is not set up yet; the payer must authenticate first',
    details: { setup_status: setup.status },
  });
};

export const setupStatusView = ({ setup }: SetUp) => ({
  setup_status: setup?.status ?? ('succeeded' as const),
  ...(setup?.nextAction && {
    next_action: { type: setup.nextAction.type, ...(setup.nextAction.url && { url: setup.nextAction.url }) },
  }),
});

/** The client secret until it expires after 24 h, for callers who may change the method. */
export const setupSecretView = (method: SetUp, now: Instant) => {
  const endsAt = setupEndsAt(method);
  const secret = endsAt !== undefined && now < instant(endsAt) ? method.setup?.clientSecret : undefined;
  return secret === undefined ? {} : { client_secret: secret };
};
