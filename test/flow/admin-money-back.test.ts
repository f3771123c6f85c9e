import { beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { type Disputed, disputedPayment, moveDisputeLater } from './disputers.ts';
import { changeTable, itemsOf, PATIENT, type User } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS, paidPayment, refund, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });
const [STRIPE, , SQUARE] = PAYING_METHODS;

let admin: User;
const dueIn = (days: number): string => new Date(service.now() + days * DAY_SECONDS * 1_000).toISOString();
type Query = Readonly<Record<string, string>>;
const listed = async (path: '/refunds' | '/disputes', query: Query) => {
  const answer = await service.get(`${path}?${new URLSearchParams(query)}`, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } });
  return answer.body.data;
};
const paymentIdsOf = async (path: '/refunds' | '/disputes', query: Query): Promise<string[]> =>
  (await listed(path, query)).map(({ payment_id }) => payment_id).toSorted();

describe('GET /disputes', () => {
  let soon: Disputed;
  let late: Disputed;
  let atSquare: Disputed;
  beforeAll(async () => {
    admin = await signInAdmin(service);
    soon = await disputedPayment(service, STRIPE);
    await moveDisputeLater(service, soon, { evidence_due_by: dueIn(4) });
    late = await disputedPayment(service, STRIPE);
    await moveDisputeLater(service, late, { evidence_due_by: dueIn(30) });
    atSquare = await disputedPayment(service, SQUARE ?? STRIPE);
  });

  test('filters by provider, payment and due date', async () => {
    const [one, other, third] = [soon.payment.id, late.payment.id, atSquare.payment.id];
    expect(await paymentIdsOf('/disputes', {})).toEqual([one, other, third].toSorted());
    expect(await paymentIdsOf('/disputes', { provider_id: 'provider_c' })).toEqual([third]);
    expect(await paymentIdsOf('/disputes', { payment_id: one })).toEqual([one]);
    expect(await paymentIdsOf('/disputes', { payment_id: one, status: 'won' })).toEqual([]);
    const due = await paymentIdsOf('/disputes', { due_before: dueIn(5), provider_id: 'provider_a' });
    expect(due).toEqual([one]);
  });

  test('finds disputes that were stored without the filtered fields', async () => {
    const [item] = (await itemsOf(service, 'DSP#')).filter(({ paymentId }) => paymentId === soon.payment.id);
    await changeTable(service, { put: { ...item, f: { s: item.f.s } } });
    expect(await paymentIdsOf('/disputes', { due_before: dueIn(5), provider_id: 'provider_a' })).toEqual([
      soon.payment.id,
    ]);
    expect(await paymentIdsOf('/disputes', { provider_id: 'provider_c' })).toEqual([atSquare.payment.id]);
  });

  test("names the payer's e-mail address and the organization", async () => {
    const [dispute] = await listed('/disputes', { payment_id: soon.payment.id });
    expect(dispute).toMatchObject({ user_email: expect.stringContaining('@'), organization_name: null });
  });

  test.each([
    ['provider_id=stripe', 'provider_id'],
    ['due_before=soon', 'due_before'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await service.get(`/disputes?${query}`, admin.options);
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', path]);
  });
});

describe('GET /refunds', () => {
  test('filters by provider and payment, pages the refunds of one payment, and names the payer', async () => {
    admin = await signInAdmin(service);
    const [one, other] = [
      await disputeFreePayment(),
      await paidPayment(service, await signInAdmin(service), { paying: SQUARE }),
    ];
    for (const { id } of [one, one, other]) {
      expect((await refund(service, id, { ...admin.options, body: { amount_cents: 100 } })).status).toBe(201);
    }
    expect(await paymentIdsOf('/refunds', {})).toEqual([one.id, one.id, other.id].toSorted());
    expect(await paymentIdsOf('/refunds', { provider_id: 'provider_c' })).toEqual([other.id]);
    expect(await paymentIdsOf('/refunds', { payment_id: one.id })).toEqual([one.id, one.id]);
    const [shown] = await listed('/refunds', { payment_id: other.id });
    expect(shown).toMatchObject({ user_email: expect.stringContaining('@'), organization_name: null });
    const first = await service.get(`/refunds?payment_id=${one.id}&limit=1`, admin.options);
    const { next_cursor: cursor } = first.body.meta;
    const [second] = await listed('/refunds', { payment_id: one.id, limit: '1', cursor });
    expect(present(second).id).not.toBe(first.body.data[0]?.id);
    expect((await service.get(`/refunds?cursor=${cursor}`, admin.options)).status).toBe(400);
  });

  const disputeFreePayment = async () => paidPayment(service, await signInAdmin(service), { paying: STRIPE });
});
