import { expect } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { logEntriesOf, signIn, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import { type Paying, paidPayment } from './refunders.ts';
import type { ParsedJson, PaymentBody, ReceivedEvent } from './routes.ts';

/** Steps of tests about disputes. The simulator's dashboard acts for the bank. */
export interface Disputed {
  readonly user: User;
  readonly payment: PaymentBody;
  /** The provider's id of the dispute. */
  readonly id: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A paid payment of 25.00 USD that its payer disputes. */
export const disputedPayment = async (service: TestHost, paying: Paying, fields: Fields = {}): Promise<Disputed> => {
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  const payment = await paidPayment(service, user, { paying });
  const { id } = await service.control('POST', `/simulator/payments/${payment.id}/disputes`, fields);
  await service.settle();
  return { user, payment, id };
};

/** Advances a day, and then changes the dispute at the bank. */
export const moveDisputeLater = async (
  service: TestHost,
  { id }: Pick<Disputed, 'id'>,
  fields: Fields,
): Promise<void> => {
  await service.advance(DAY_SECONDS);
  await service.control('POST', `/simulator/disputes/${id}`, fields);
  await service.settle();
};

export const disputesOf = async (service: TestHost, { user, payment }: Disputed) =>
  (await service.get(`/payments/${payment.id}/disputes`, user.options)).body;

/** The only dispute of the payment, as its user reads it. */
export const readDispute = async (service: TestHost, disputed: Disputed) => {
  const [only, ...others] = await disputesOf(service, disputed);
  expect(others).toEqual([]);
  return present(only);
};

/** The events published about the disputes of a payment, in the order of its versions. */
export const announcedOf = async (service: TestHost, paymentId: string) =>
  announcedIn(await service.busEvents(), paymentId);

const announcedIn = (events: readonly ReceivedEvent[], paymentId: string) =>
  events
    .filter(({ source, detail }) => source === 'payments' && detail.payload.data.dispute !== undefined)
    .filter(({ detail }) => detail.payload.data.payment_id === paymentId)
    .map(({ detail }) => detail)
    .sort((one: ParsedJson, other: ParsedJson) => Number(one.id.split(':')[1]) - Number(other.id.split(':')[1]))
    .map(({ payload }) => ({
      name: payload.event.replace('payment.dispute_', ''),
      ...payload.data.dispute,
    }));

export const wordsOf = async (service: TestHost, paymentId: string): Promise<string[]> =>
  (await announcedOf(service, paymentId)).map(({ name, status }) => `${name} ${status}`);

/** The logged outcomes of the provider's events about disputes of the payment, oldest first. */
export const loggedOutcomes = async (service: TestHost, paymentId: string): Promise<string[]> =>
  (await logEntriesOf(service, paymentId))
    .filter(({ eventType }) => /dispute/i.test(eventType))
    .map(({ response }) => [response.outcome, response.reason].filter(Boolean).join(': '));

/** Expects the record to show the dispute as its provider does. */
export const expectSameDispute = async (service: TestHost, disputed: Disputed): Promise<void> => {
  const { disputes } = await service.ledger(disputed.payment.id);
  await expectShownAs(
    service,
    disputed,
    disputes.find(({ id }: ParsedJson) => id === disputed.id),
  );
};

/** @param held the dispute in the provider's ledger */
const expectShownAs = async (service: TestHost, disputed: Disputed, held: ParsedJson): Promise<void> => {
  const isOpen = ['needs_response', 'under_review'].includes(held.status);
  const shown = await readDispute(service, disputed);
  expect(shown).toMatchObject({ status: held.status, amount_cents: held.amount, currency: held.currency });
  // PayPal sends the due date of an open case only, so the record keeps the last date.
  if (isOpen || held.provider !== 'provider_b') {
    expect(Date.parse(present(shown).evidence_due_by)).toBe(
      Math.floor(Date.parse(held.evidence_due_by) / 1_000) * 1_000,
    );
  }
  const after = await service.get(`/payments/${disputed.payment.id}`, disputed.user.options);
  expect(after.body.data.disputed).toBe(isOpen);
};
