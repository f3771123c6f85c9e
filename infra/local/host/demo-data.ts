import * as z from 'zod';
import type { DisputeStatus, RefundReason } from '../../../shared/core/money-back.ts';
import type { ProviderSlot } from '../../../shared/core/settings.ts';

/**
 * Payments of the demo owner with refunds and disputes, so that lists have something to show. They are made by the
 * service's own routes, and by the simulator's control routes where a refund or dispute begins at the provider.
 */
interface Story {
  readonly provider: ProviderSlot;
  readonly method: string;
  readonly cents: number;
  readonly description: string;
  /** Refunds that the demo admin makes. `sentBack`: the payer's bank returns the money. */
  readonly refunds?: readonly { readonly cents?: number; readonly reason: RefundReason; readonly sentBack?: true }[];
  /** Refunds made at the provider. */
  readonly refundedThere?: readonly { readonly cents: number; readonly status: 'pending' | 'succeeded' }[];
  /** A dispute, and the status that it reaches. */
  readonly dispute?: DisputeStatus;
}

const STRIPE = { provider: 'provider_a', method: 'pm_card_visa' } as const;
const SQUARE = { provider: 'provider_c', method: 'cnon:card-nonce-ok' } as const;

const STORIES: readonly Story[] = [
  {
    ...STRIPE,
    cents: 2_500,
    description: 'Refunded in part',
    refunds: [{ cents: 900, reason: 'requested_by_customer' }],
  },
  { ...STRIPE, cents: 4_900, description: 'Refunded in full', refunds: [{ reason: 'duplicate' }] },
  {
    ...STRIPE,
    cents: 3_100,
    description: 'Refund sent back by the bank',
    refunds: [{ reason: 'requested_by_customer', sentBack: true }],
  },
  {
    ...STRIPE,
    cents: 1_200,
    description: 'Refund pending at the provider',
    refundedThere: [{ cents: 500, status: 'pending' }],
  },
  {
    ...SQUARE,
    cents: 1_800,
    description: 'Refunded at the provider',
    refundedThere: [{ cents: 600, status: 'succeeded' }],
  },
  { ...SQUARE, cents: 2_200, description: 'Paid' },
  { ...STRIPE, cents: 7_500, description: 'Dispute open', dispute: 'needs_response' },
  { ...STRIPE, cents: 6_400, description: 'Dispute under review', dispute: 'under_review' },
  { ...SQUARE, cents: 5_300, description: 'Dispute won', dispute: 'won' },
  { ...STRIPE, cents: 4_200, description: 'Dispute lost', dispute: 'lost' },
];

const OWNER = 'demo-owner';
const ADMIN = 'demo-admin';

export interface DemoSite {
  /** The host, with its control routes under /_local. */
  readonly baseUrl: string;
  /** The service's routes. */
  readonly serviceUrl: string;
}

/** Makes the demo data, in the order of the stories. @returns how many payments it made */
export const makeDemoData = async (site: DemoSite): Promise<number> => {
  for (const story of STORIES) await tell(site, story);
  return STORIES.length;
};

const tell = async (site: DemoSite, story: Story): Promise<void> => {
  const { provider, method, cents, description } = story;
  const { id } = await askService(site, [OWNER, '/payments/intents'], {
    ...{ total_cents: cents, currency: 'USD', description },
    ...{ provider_id: provider, payment_method_id: method },
  });
  await askService(site, [OWNER, `/payments/confirm/${id}`], {});
  for (const refund of story.refunds ?? []) {
    const made = await askService(site, [ADMIN, `/payments/${id}/refunds`], {
      amount_cents: refund.cents,
      reason: refund.reason,
    });
    if (refund.sentBack) await control(site, `/refunds/${made.provider_refund_id}`, { status: 'failed' });
  }
  for (const { cents: amount, status } of story.refundedThere ?? []) {
    await control(site, `/payments/${id}/refunds`, { amount, status });
  }
  if (story.dispute) await control(site, `/payments/${id}/disputes`, { status: story.dispute });
};

const madeSchema = z.object({ id: z.string(), provider_refund_id: z.string().nullish() });
type Made = z.infer<typeof madeSchema>;

const askService = (
  { serviceUrl }: DemoSite,
  [session, path]: readonly [session: string, path: string],
  body: unknown,
) => post(`${serviceUrl}${path}`, body, { 'x-session-id': session });

const control = ({ baseUrl }: DemoSite, path: string, body: unknown): Promise<Made> =>
  post(`${baseUrl}/_local/simulator${path}`, body, {});

/** @throws Error with the answer, where it is no success */
const post = async (url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Made> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return madeSchema.parse(JSON.parse(text));
};
