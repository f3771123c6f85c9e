import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, type SignedCaller, service as startService } from './http.ts';
import { CARD, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

const list = async (caller: SignedCaller, query = '') => {
  const answer = await service.get(`/payments${query}`, caller);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

/** A user with that many payments, oldest first. */
const payer = async (count: number, more: (index: number) => object = () => ({})) => {
  const person = await service.person();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await make.payment(person.caller, more(index))).id);
  return { ...person, ids };
};

describe('the list of payments', () => {
  test('is empty for a user without payments, with the whole envelope', async () => {
    const { caller, userId, email } = await service.person();
    expect(await list(caller)).toMatchObject({
      success: true,
      data: [],
      meta: { page: 1, limit: 20, total: 0, hasMore: false, orderBy: 'created_at', orderDir: 'desc' },
      user_context: {
        authenticated: true,
        user_id: userId,
        user_type: expect.any(String),
        user_email: email,
        search_method: expect.any(String),
      },
    });
  });

  test('contains each payment immediately after its creation, newest first, and counts it', async () => {
    const { caller } = await service.person();
    const expected: string[] = [];
    for (let total = 1; total <= 6; total += 1) {
      expected.unshift((await make.payment(caller)).id);
      const { data, meta } = await list(caller);
      expect({ ids: data.map(({ id }: { id: string }) => id), total: meta.total }).toEqual({ ids: expected, total });
      expect(meta.hasMore).toBe(false);
    }
  });

  test('counts payments created in parallel immediately', async () => {
    const { caller } = await service.person();
    const made = await Promise.all(Array.from({ length: 8 }, () => make.payment(caller)));
    const { data, meta } = await list(caller);
    expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(meta.total).toBe(8);
  });

  test('shows each payment on exactly one page, with the same total on each page', async () => {
    const { caller, ids } = await payer(5);
    const pages = [await list(caller, '?page=1&limit=2'), await list(caller, '?page=2&limit=2')];
    pages.push(await list(caller, '?page=3&limit=2'));
    expect(pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))).toEqual(ids.toReversed());
    expect(pages.map(({ meta }) => [meta.page, meta.limit, meta.total, meta.hasMore])).toEqual([
      [1, 2, 5, true],
      [2, 2, 5, true],
      [3, 2, 5, false],
    ]);
  });

  test('shows an empty page after the last page', async () => {
    const { caller } = await payer(1);
    expect(await list(caller, '?page=9')).toMatchObject({ data: [], meta: { page: 9, total: 1, hasMore: false } });
  });

  test('has 20 payments by default and 50 at most', async () => {
    const { caller } = await payer(21);
    const seen = async (query: string) => {
      const { data, meta } = await list(caller, query);
      return [data.length, meta.limit, meta.total, meta.hasMore];
    };
    expect(await seen('')).toEqual([20, 20, 21, true]);
    expect(await seen('?limit=50')).toEqual([21, 50, 21, false]);
    expect(await seen('?limit=1')).toEqual([1, 1, 21, true]);
  });

  test('refuses a limit or page outside its range', async () => {
    for (const query of ['limit=51', 'limit=0', 'limit=-1', 'limit=ten', 'page=0', 'page=-1', 'page=1.5']) {
      expectError(await service.get(`/payments?${query}`, DEMO_OWNER), 400);
    }
  });

  test('treats every empty query value as absent', async () => {
    const { caller, ids } = await payer(1);
    const names = ['page', 'limit', 'status', 'search', 'created_at_from', 'created_at_to', 'orderBy', 'orderDir'];
    const query = [...names, 'include', 'organization_id', 'project_id', 'token'].map((name) => `${name}=`).join('&');
    expect(await list(caller, `?${query}`)).toMatchObject({
      data: [{ id: ids[0] }],
      meta: { page: 1, limit: 20, total: 1, orderBy: 'created_at', orderDir: 'desc' },
    });
  });

  test('contains no payments of another user', async () => {
    const { ids } = await payer(1);
    const other = await payer(1);
    expect((await list(other.caller)).data).toMatchObject([{ id: other.ids[0] }]);
    expect(ids).not.toEqual(other.ids);
  });

  test('requires a credential', async () => {
    expectError(await service.get('/payments'), 401);
  });
});

describe('the filters of the list of payments', () => {
  test('accept each status of the table, in any case', async () => {
    const { caller } = await payer(1);
    for (const status of ['pending', 'processing', 'succeeded', 'failed', 'canceled', 'PENDING', 'Failed']) {
      expect(await list(caller, `?status=${status}`)).toMatchObject({ data: [], meta: { total: 0 } });
    }
  });

  test('find a payment by its status immediately after the change', async () => {
    const { caller, ids } = await payer(2);
    await make.confirm(ids[0] ?? '', caller, { payment_method_id: CARD });
    expect(await list(caller, '?status=succeeded')).toMatchObject({
      data: [{ id: ids[0], status: 'succeeded' }],
      meta: { total: 1, hasMore: false },
    });
  });

  test('refuse an unknown status', async () => {
    expectError(await service.get('/payments?status=lost', DEMO_OWNER), 400);
  });

  test.each([
    ['failed', 'pm_card_visa_chargeDeclined'],
    ['pending', 'pm_card_authenticationRequired'],
    ['processing', 'pm_sim_processing_ok'],
  ])('find a payment that is %s', async (status, token) => {
    const { caller, ids } = await payer(1);
    await service.post(`/payments/confirm/${ids[0]}`, { payment_method_id: token }, caller);
    expect(await list(caller, `?status=${status}`)).toMatchObject({
      data: [{ id: ids[0], status }],
      meta: { total: 1 },
    });
  });

  test('limit the creation time by two dates', async () => {
    const { caller, ids } = await payer(1);
    const { created_at } = (await list(caller)).data[0];
    await service.advance(3_600);
    const { id: later } = await make.payment(caller);
    const after = new Date(Date.parse(created_at) + 60_000).toISOString();
    const seen = async (query: string) => {
      const { data, meta } = await list(caller, query);
      expect(meta.total).toBe(data.length);
      return data.map(({ id }: { id: string }) => id);
    };
    expect(await seen(`?created_at_from=${after}`)).toEqual([later]);
    expect(await seen(`?created_at_to=${after}`)).toEqual(ids);
    expect(await seen(`?created_at_from=${created_at}&created_at_to=${after}`)).toEqual(ids);
  });

  test('refuse an invalid date', async () => {
    expectError(await service.get('/payments?created_at_from=yesterday', DEMO_OWNER), 400);
  });

  test('search in id and description', async () => {
    const { caller, ids } = await payer(3, (index) => ({ description: `Poster number ${index}` }));
    expect(await list(caller, `?search=${ids[1]}`)).toMatchObject({ data: [{ id: ids[1] }], meta: { total: 1 } });
    expect(await list(caller, '?search=number%202')).toMatchObject({ data: [{ id: ids[2] }], meta: { total: 1 } });
    expect(await list(caller, '?search=poster')).toMatchObject({ data: [{}, {}, {}], meta: { total: 3 } });
    expect(await list(caller, '?search=nothing-like-it')).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test('search in the e-mail address of the payer', async () => {
    const { caller, email, ids } = await payer(2);
    const found = await list(caller, `?search=${encodeURIComponent(email)}`);
    expect(found).toMatchObject({ meta: { total: 2 } });
    expect(found.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  });

  test('show an organization’s payments without the user’s own payments', async () => {
    const { caller } = await payer(1);
    const { id: organization_id } = await make.organization(caller);
    const { id } = await make.payment(caller, { organization_id });
    expect(await list(caller, `?organization_id=${organization_id}`)).toMatchObject({
      data: [{ id, organization_id }],
      meta: { total: 1 },
    });
  });

  test('show the payments of a project, alone and with its organization', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller);
    const project_id = await make.project({ organization_id });
    const { id } = await make.payment(caller, { organization_id, project_id });
    await make.payment(caller, { organization_id });
    for (const query of [`project_id=${project_id}`, `project_id=${project_id}&organization_id=${organization_id}`]) {
      expect(await list(caller, `?${query}`)).toMatchObject({ data: [{ id, project_id }], meta: { total: 1 } });
    }
  });

  test('refuse another organization and an unknown organization with 403', async () => {
    const stranger = await service.person();
    const { id } = await make.organization(stranger.caller);
    for (const other of [id, 'org_0123456789abcdef01234567']) {
      expectError(await service.get(`/payments?organization_id=${other}`, DEMO_OWNER), 403);
    }
  });

  test('refuse a project of another organization with 403', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization((await service.person()).caller);
    const project_id = await make.project({ organization_id });
    expectError(await service.get(`/payments?project_id=${project_id}`, caller), 403);
  });

  test('refuse a project of another user with 404', async () => {
    const { userId } = await service.person();
    const project_id = await make.project({ owner_user_id: userId });
    expectError(await service.get(`/payments?project_id=${project_id}`, DEMO_OWNER), 404);
  });
});

describe('the order of the list of payments', () => {
  const AMOUNTS = [300, 100, 200];
  let shared: ReturnType<typeof payer> | undefined;
  const ordered = async (query: string) => {
    shared ??= payer(3, (index) => ({ subtotal_cents: AMOUNTS[index], total_cents: AMOUNTS[index] }));
    const { data, meta } = await list((await shared).caller, query);
    return { amounts: data.map(({ amount_cents }: { amount_cents: number }) => amount_cents), meta };
  };

  test.each([
    ['?orderBy=created_at', [200, 100, 300], 'desc'],
    ['?orderBy=created_at&orderDir=asc', [300, 100, 200], 'asc'],
    ['?orderDir=asc', [300, 100, 200], 'asc'],
    ['?orderBy=amount_cents', [300, 200, 100], 'desc'],
    ['?orderBy=amount_cents&orderDir=asc', [100, 200, 300], 'asc'],
    ['?orderBy=updated_at&orderDir=asc', [300, 100, 200], 'asc'],
    ['?orderBy=updated_at&orderDir=DESC', [200, 100, 300], 'desc'],
    ['?orderBy=AMOUNT_CENTS&orderDir=Asc', [100, 200, 300], 'asc'],
  ])('follows %s', async (query, amounts, orderDir) => {
    expect(await ordered(query)).toMatchObject({ amounts, meta: { orderDir, total: 3 } });
  });

  test('groups payments by status', async () => {
    const { caller, ids } = await payer(3);
    await make.confirm(ids[1] ?? '', caller, { payment_method_id: CARD });
    const { data, meta } = await list(caller, '?orderBy=status&orderDir=desc');
    expect(data[0]).toMatchObject({ id: ids[1], status: 'succeeded' });
    expect(meta).toMatchObject({ orderBy: 'status', total: 3 });
  });

  test.each(['orderBy=color', 'orderDir=up'])('refuses ?%s', async (query) => {
    expectError(await service.get(`/payments?${query}`, DEMO_OWNER), 400);
  });
});

describe('the list of payments with an include', () => {
  test('contains the payment method, with the include in any case', async () => {
    const { caller } = await service.person();
    const { id: payment_method_id } = await make.method(caller);
    await make.payment(caller, { payment_method_id });
    for (const query of ['?include=payment_method', '?include=Payment_Method']) {
      expect((await list(caller, query)).data).toMatchObject([
        { payment_method: { id: payment_method_id, payment_type: 'card', last_four: '4242' } },
      ]);
    }
    expect((await list(caller)).data[0]).not.toHaveProperty('payment_method');
  });
});
