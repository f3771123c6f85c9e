import { expect } from 'vitest';
import type { User } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** The amounts of one payment from its provider's ledger alone, in minor units. */
const accountAtProvider = async (service: TestHost, paymentId: string) => {
  const ledger = await service.ledger(paymentId);
  const sum = (rows: ParsedJson[], of: string, statuses: readonly string[]): number =>
    rows.filter(({ status }) => statuses.includes(status)).reduce((total, row) => total + row[of], 0);
  const captured = sum(ledger.charges, 'captured', ['succeeded', 'refunded']);
  const refunded = sum(ledger.refunds, 'amount', ['succeeded']);
  const refunding = sum(ledger.refunds, 'amount', ['pending']);
  const disputed = sum(ledger.disputes, 'amount', ['needs_response', 'under_review']);
  const lost = sum(ledger.disputes, 'amount', ['lost']);
  const left = captured - refunded - refunding - lost;
  return { captured, refunded, disputed, lost, refundable: Math.max(0, left - disputed), left: Math.max(0, left) };
};

export type ProviderAccount = Awaited<ReturnType<typeof accountAtProvider>>;

/**
 * Expects the payment, and the user's list, CSV and sums, to show the same amounts as the provider's ledger. The
 * payment must be the user's only payment.
 * @returns the account
 */
export const expectAccount = async (service: TestHost, user: User, paymentId: string): Promise<ProviderAccount> => {
  const account = await accountAtProvider(service, paymentId);
  const { captured, refunded, disputed, lost, refundable } = account;
  const shown = {
    ...{ captured_cents: captured, refunded_cents: refunded, refundable_cents: refundable },
    ...{ disputed_cents: disputed, lost_cents: lost },
  };
  const view = await service.get(`/payments/${paymentId}`, user.options);
  expect(view.body.data).toMatchObject(shown);
  const list = await service.get('/payments', user.options);
  expect(list.body.data).toMatchObject([shown]);
  const csv = await service.get('/payments', { ...user.options, headers: { accept: 'text/csv' } });
  const [header = '', row = ''] = String(csv.body).split('\r\n');
  const cells = Object.fromEntries(header.split(',').map((name, index) => [name, row.split(',')[index]]));
  expect(cells).toMatchObject(Object.fromEntries(Object.entries(shown).map(([name, cents]) => [name, String(cents)])));
  for (const group of ['currency', 'status', 'provider', 'method']) {
    expect(await sumsBy(service, user, group)).toEqual({ group, captured, refunded, lost });
  }
  return account;
};

/** The summary's captured, refunded and lost totals of the user's succeeded payments. */
const sumsBy = async (service: TestHost, user: User, group: string) => {
  const { body } = await service.get(`/payments/summary?group_by=${group}&interval=month`, user.options);
  const rows = body.data.filter(({ status = 'succeeded' }) => status === 'succeeded');
  const sum = (name: string): number => rows.reduce((total: number, row: ParsedJson) => total + row[name], 0);
  return { group, captured: sum('amount_cents'), refunded: sum('refunded_cents'), lost: sum('lost_cents') };
};
