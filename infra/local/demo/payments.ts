/** @module The payments of the demo data, each with its later changes. */

import type { DisputeStatus, RefundReason } from '../../../shared/core/money-back.ts';
import { ADMIN, type Demo, type DemoStep, MEMBER, OWNER } from './asking.ts';

interface Story {
  readonly name: string;
  readonly daysAgo: number;
  /** A demo session; absent for a guest. */
  readonly by?: string;
  readonly place: Place;
  /** A provider's token, or a saved method of the demo data. Absent if the payer chose no method. */
  readonly method?: string;
  readonly price: readonly [cents: number, currency: string];
  readonly text: string;
  readonly more?: Readonly<Record<string, unknown>>;
  /** The payer's first action; confirms by default. */
  readonly payer?: 'confirms' | 'leaves' | 'cancels';
  readonly later?: readonly Later[];
}

interface Later {
  readonly daysAgo: number;
  readonly run: (demo: Demo, paymentId: string) => Promise<unknown>;
}

type Place = 'stripe' | 'paypal' | 'square';
const SLOTS: Readonly<Record<Place, string>> = { stripe: 'provider_a', paypal: 'provider_b', square: 'provider_c' };
const WORKS: Readonly<Record<Place, string>> = {
  stripe: 'pm_card_visa',
  paypal: 'SIM-OK',
  square: 'cnon:card-nonce-ok',
};
const SAVED = /^(?:card|paypal)-/;

/** A refund that a platform admin makes. */
const refund = (daysAgo: number, name: string, body: { amount_cents?: number; reason: RefundReason }): Later => ({
  daysAgo,
  run: (demo, id) => demo.create(name, { path: `/payments/${id}/refunds`, by: ADMIN, body }),
});

/** The payer's bank returns a refund. */
const sentBack = (daysAgo: number, name: string): Later => ({
  daysAgo,
  run: (demo) => demo.simulate(`/refunds/${demo.made(name).provider_refund_id}`, { status: 'failed' }),
});

const refundThere = (daysAgo: number, amount: number, status: 'pending' | 'succeeded'): Later => ({
  daysAgo,
  run: (demo, id) => demo.simulate(`/payments/${id}/refunds`, { amount, status }),
});

const dispute = (daysAgo: number, status: DisputeStatus, reason?: string): Later => ({
  daysAgo,
  run: (demo, id) => demo.simulate(`/payments/${id}/disputes`, { status, reason }),
});

const paid = (
  name: string,
  daysAgo: number,
  story: Omit<Story, 'name' | 'daysAgo' | 'method'> & { readonly method?: string },
): Story => ({ name, daysAgo, method: WORKS[story.place], ...story });

const owner = { by: OWNER } as const;
const member = { by: MEMBER } as const;
const ofOrganization = { by: OWNER, more: { organization_id: 'org_demo' } } as const;
const guest = (email: string, name: string) => ({ more: { guest_data: { email, name } } });

const STORIES: readonly Story[] = [
  paid('payment-brushes', 30.2, { ...owner, place: 'stripe', price: [2_150, 'EUR'], text: 'Two brushes' }),
  paid('payment-easel', 29.5, {
    ...owner,
    place: 'stripe',
    price: [8_900, 'EUR'],
    text: 'Easel',
    method: 'card-owner-visa',
  }),
  paid('payment-workshop', 28.4, { ...owner, place: 'paypal', price: [4_500, 'EUR'], text: 'Workshop on Saturday' }),
  paid('payment-lost-course', 27.2, {
    ...{ ...owner, place: 'stripe', price: [4_200, 'USD'], text: 'Course by mail' },
    later: [dispute(20.3, 'lost', 'product_not_received')],
  }),
  paid('payment-license', 26.5, { ...ofOrganization, place: 'stripe', price: [49_000, 'EUR'], text: 'Yearly license' }),
  paid('payment-declined', 25.8, {
    ...{ ...owner, place: 'stripe', price: [3_300, 'EUR'], text: 'Set of inks' },
    method: 'pm_card_visa_chargeDeclinedInsufficientFunds',
  }),
  paid('payment-inks', 25.7, { ...owner, place: 'stripe', price: [3_300, 'EUR'], text: 'Set of inks, second try' }),
  paid('payment-gus', 24.9, {
    ...{ ...guest('gus@example.com', 'Gus Guest'), place: 'square', price: [700, 'USD'], text: 'Postcards' },
  }),
  paid('payment-canvas', 23.9, {
    ...{ ...owner, place: 'stripe', price: [4_900, 'EUR'], text: 'Canvas, bought twice' },
    later: [refund(23.2, 'refund-canvas', { reason: 'duplicate' })],
  }),
  paid('payment-frame', 23.1, {
    ...{ ...owner, place: 'stripe', price: [2_500, 'EUR'], text: 'Frame, arrived damaged' },
    later: [refund(19.4, 'refund-frame', { amount_cents: 900, reason: 'requested_by_customer' })],
  }),
  paid('payment-abandoned', 22.4, {
    ...{ ...owner, place: 'stripe', price: [6_000, 'EUR'], text: 'Course, never confirmed', payer: 'leaves' },
  }),
  paid('payment-won-tools', 21.1, {
    ...{ ...owner, place: 'square', price: [5_300, 'USD'], text: 'Tools' },
    later: [dispute(12.3, 'won')],
  }),
  paid('payment-paypal-declined', 20.2, {
    ...{ ...member, place: 'paypal', price: [1_990, 'USD'], text: 'Studio time', method: 'SIM-DECLINED' },
  }),
  paid('payment-course', 18.8, {
    ...{ ...owner, place: 'stripe', price: [14_280, 'EUR'], text: 'Course in watercolor', method: 'card-owner-visa' },
    more: { product_id: 'demo-course', reference_code: 'DEMO-2001', tags: 'course' },
  }),
  paid('payment-canceled', 17.5, {
    ...{ ...owner, place: 'stripe', price: [2_200, 'EUR'], text: 'Chosen by mistake', payer: 'cancels' },
  }),
  paid('payment-museum', 16.7, {
    ...ofOrganization,
    place: 'stripe',
    price: [31_500, 'EUR'],
    text: 'Museum tour',
    method: 'card-organization',
  }),
  paid('payment-returned', 14.6, {
    ...{ ...owner, place: 'stripe', price: [3_100, 'EUR'], text: 'Lamp, returned' },
    later: [refund(11.7, 'refund-returned', { reason: 'requested_by_customer' }), sentBack(9.6, 'refund-returned')],
  }),
  paid('payment-exhibition', 12.1, {
    ...{ ...owner, place: 'square', price: [1_800, 'USD'], text: 'Exhibition, two tickets' },
    later: [refundThere(10.4, 600, 'succeeded')],
  }),
  paid('payment-lost-card', 10.5, {
    ...{
      ...member,
      place: 'stripe',
      price: [5_500, 'EUR'],
      text: 'Course in drawing',
      method: 'pm_card_visa_chargeDeclinedLostCard',
    },
  }),
  paid('payment-yen', 9.4, { ...owner, place: 'stripe', price: [7_800, 'JPY'], text: 'Paper from Kyoto' }),
  paid('payment-review', 8.2, {
    ...{ ...owner, place: 'stripe', price: [6_400, 'USD'], text: 'Course in calligraphy' },
    later: [dispute(4.5, 'under_review', 'product_unacceptable')],
  }),
  paid('payment-open', 5.6, {
    ...{ ...owner, place: 'stripe', price: [7_500, 'USD'], text: 'Course in oil' },
    later: [dispute(0.6, 'needs_response')],
  }),
  paid('payment-glaze', 4.4, {
    ...{ ...owner, place: 'stripe', price: [1_200, 'EUR'], text: 'Glaze' },
    later: [refundThere(1.3, 500, 'pending')],
  }),
  paid('payment-square-declined', 3.1, {
    ...{
      ...owner,
      place: 'square',
      price: [2_050, 'USD'],
      text: 'Wood, cut to size',
      method: 'cnon:card-nonce-declined',
    },
  }),
  paid('payment-wood', 3, {
    ...owner,
    place: 'square',
    price: [2_050, 'USD'],
    text: 'Wood, cut to size, second try',
    method: 'card-owner-square',
  }),
  paid('payment-visit', 1.4, {
    ...owner,
    place: 'paypal',
    price: [3_600, 'EUR'],
    text: 'Visit to a studio',
    method: 'paypal-owner',
  }),
  paid('payment-today', 0.4, {
    ...owner,
    place: 'stripe',
    price: [2_990, 'EUR'],
    text: 'Pigments',
    method: 'card-owner-mastercard',
  }),
  paid('payment-secure', 0.2, {
    ...{ ...owner, place: 'stripe', price: [9_900, 'EUR'], text: 'Course, waits for 3-D Secure' },
    method: 'pm_card_authenticationRequired',
  }),
  {
    ...{ name: 'payment-approval', daysAgo: 0.15, ...owner, place: 'paypal', price: [2_300, 'EUR'] },
    text: 'Course, waits for the payer',
    payer: 'leaves',
  },
  paid('payment-basket', 0.12, {
    ...{ ...owner, place: 'stripe', price: [3_570, 'EUR'], text: 'Two sketchbooks, not confirmed' },
    method: 'card-owner-visa',
    payer: 'leaves',
  }),
  paid('payment-doubtful', 0.11, {
    ...{ ...owner, place: 'stripe', price: [4_800, 'EUR'], text: 'Day of printing, not confirmed', payer: 'leaves' },
  }),
  paid('payment-new', 0.1, {
    ...member,
    place: 'stripe',
    price: [1_640, 'EUR'],
    text: 'Chalk, not confirmed',
    payer: 'leaves',
  }),
  paid('payment-held', 0.09, {
    ...{ ...owner, place: 'stripe', price: [14_500, 'EUR'], text: 'Canvas to order, held until it is shipped' },
    more: { capture_method: 'manual' },
  }),
];

export const paymentSteps: readonly DemoStep[] = STORIES.flatMap((story) => [
  { daysAgo: story.daysAgo, run: (demo) => pay(demo, story) },
  ...(story.later ?? []).map(
    ({ daysAgo, run }): DemoStep => ({
      daysAgo,
      run: (demo) => run(demo, demo.made(story.name).id),
    }),
  ),
]);

const pay = async (demo: Demo, story: Story): Promise<void> => {
  const { name, by, place, price, text, method, more } = story;
  const [total_cents, currency] = price;
  const made = await demo.create(name, {
    path: '/payments/intents',
    by,
    body: {
      ...{ total_cents, currency, description: text, provider_id: SLOTS[place] },
      ...(method !== undefined && { payment_method_id: SAVED.test(method) ? demo.made(method).id : method }),
      ...more,
    },
  });
  const asGuest = by === undefined ? `?token=${made.guest_token}` : '';
  const act = (path: string): Promise<unknown> => demo.post({ path: `${path}${asGuest}`, by });
  if (story.payer === 'leaves') return;
  await act(story.payer === 'cancels' ? `/payments/intents/${made.id}/cancel` : `/payments/confirm/${made.id}`);
};
