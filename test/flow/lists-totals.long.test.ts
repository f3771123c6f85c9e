/**
 * @module A list's total is exact up to 1,000 records right after a create, and never less than the number of records
 * on the page.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { keyedId } from '../../shared/core/ids.ts';
import { DAY_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { addressShape } from '../../shared/customers/address.ts';
import { logItem } from '../../shared/event-log/log-entry.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { fullAddress } from '../builders/address.ts';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { payment } from '../builders/payment.ts';
import { projectBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { changeTable, PATIENT, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import { payer } from './subscribers.ts';

const service = withHost({ frozen: true, env: PATIENT });

const MADE = 100;

/** A list, and a create that adds one record to it. */
interface Listed {
  readonly create: (number: number) => Promise<TestAnswer>;
  /** Each path shows every record that `create` makes, and no other. */
  readonly paths: readonly string[];
  readonly options: RequestOptions;
}

const totalIn = ({ body, headers }: TestAnswer): number | undefined => {
  const header = headers.get('x-total-count');
  return body.meta?.total ?? body.meta?.pagination?.total ?? (header === null ? undefined : Number(header));
};

const shown = ({ body }: TestAnswer) => ({
  count: (body.data ?? body).length as number,
  isExact: (body.meta?.pagination ?? body.meta)?.total_is_exact !== false,
});

const listOf = async (path: string, options: RequestOptions) => {
  const answer = await service.get(path, options);
  expect(answer).toMatchObject({ status: 200 });
  return answer;
};

const expectTotal = async (path: string, options: RequestOptions, total: number): Promise<void> => {
  const answer = await listOf(path, options);
  const header = answer.headers.get('x-total-count');
  expect({ path, total: totalIn(answer), header }).toEqual({ path, total, header: String(total) });
  expect(shown(answer).isExact).toBe(true);
};

const created = async (answer: Promise<TestAnswer>): Promise<void> => {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 201 });
};

/** Tests that totals count every create. No test waits for the stream, so the totals must not depend on the stream. */
const countsEveryCreate = (name: string, open: () => Promise<Listed>): void => {
  describe(name, () => {
    test('counts each of 100 creates immediately', async () => {
      const { create, paths, options } = await open();
      for (let number = 1; number <= MADE; number += 1) {
        await created(create(number));
        await expectTotal(paths[number % paths.length] ?? '', options, number);
      }
      for (const path of paths) await expectTotal(path, options, MADE);
    });

    test('counts 100 concurrent creates, and never shows more records than it counts', async () => {
      const { create, paths, options } = await open();
      // The session is cached here, so the identity service does not get 100 concurrent requests.
      await created(create(0));
      let running = true;
      const watch = async (): Promise<void> => {
        for (let turn = 0; running; turn += 1) {
          const answer = await listOf(paths[turn % paths.length] ?? '', options);
          expect(totalIn(answer)).toBeGreaterThanOrEqual(shown(answer).count + (answer.body.meta?.hasMore ? 1 : 0));
        }
      };
      const creating = Promise.all(Array.from({ length: MADE - 1 }, () => created(create(1)))).finally(() => {
        running = false;
      });
      await Promise.all([creating, watch()]);
      for (const path of paths) await expectTotal(path, options, MADE);
    });
  });
};

const intent = (options: RequestOptions, fields: object = {}) =>
  service.post('/payments/intents', intentBody({ description: 'Tea for two', ...fields }), options);

countsEveryCreate('the list of a user', async () => {
  const { options } = await signIn(service);
  const [from, to] = [iso(service.now() - MINUTE_MS), iso(service.now() + MINUTE_MS)];
  return {
    create: () => intent(options),
    paths: [
      '/payments',
      '/payments?limit=2',
      '/payments?limit=2&status=requires_payment_method,created',
      `/payments?limit=2&created_at_from=${from}&created_at_to=${to}`,
      '/payments?limit=2&search=TEA',
      '/payments?limit=2&envelope=false',
      '/payments?limit=2&orderDir=asc',
      '/payments?limit=2&orderBy=amount_cents',
      '/payments?limit=2&page=1000',
    ],
    options,
  };
});

let projects = 0;

countsEveryCreate('the list of an organization and of its project', async () => {
  const [owner, admin] = [await newPerson(service), await signIn(service, { is_admin: true })];
  const organization_id = await newOrganization(service, owner);
  projects += 1;
  const project_id = `totals-${projects}`;
  await service.put(`/admin/projects/${project_id}`, projectBody({ organization_id }), admin.options);
  return {
    create: () => intent(owner.options, { organization_id, project_id }),
    paths: [
      `/payments?limit=2&organization_id=${organization_id}`,
      `/payments?limit=2&project_id=${project_id}`,
      `/payments?limit=2&project_id=${project_id}&organization_id=${organization_id}`,
    ],
    options: owner.options,
  };
});

let guests = 0;

countsEveryCreate('the list of a guest', async () => {
  guests += 1;
  const guest_data = { email: `total.${guests}@example.com`, name: 'Gil' };
  const first = await service.post('/customers', customerBody({ guest_data }));
  const options = { guestToken: first.body.guest_token };
  return {
    create: () => service.post('/payments/intents', guestIntentBody({}, guest_data), options),
    paths: ['/payments?limit=2', `/payments/guest/${guest_data.email}?limit=2`],
    options,
  };
});

countsEveryCreate('a bare list of addresses', async () => {
  const { options } = await signIn(service);
  return {
    create: () => service.post('/addresses', fullAddress({ type: 'billing', is_partial: false }), options),
    paths: ['/addresses?limit=2', '/addresses?limit=2&type=billing', '/addresses?limit=2&completeness=full'],
    options,
  };
});

describe('the total of every other list', () => {
  const FEW = 5;
  const repeat = async (create: (number: number) => Promise<TestAnswer>): Promise<void> => {
    for (let number = 1; number <= FEW; number += 1) await created(create(number));
  };

  test('counts customers, payment methods and subscriptions', async () => {
    const { options } = await signIn(service);
    const who = await payer(service, options);
    await repeat(() => service.post('/customers', customerBody(), options));
    await repeat(() => service.post('/payment-methods', methodBody(), options));
    await repeat(() => service.post('/subscriptions', subscriptionBody(who.names), options));
    for (const query of ['limit=2', 'limit=2&offset=4', 'limit=2&provider_id=provider_a']) {
      await expectTotal(`/customers?${query}`, options, FEW + 1);
    }
    for (const query of [
      'limit=2',
      'limit=2&page=3',
      'limit=2&orderBy=created_at&orderDir=asc',
      'limit=2&search=visa',
    ]) {
      await expectTotal(`/payment-methods?${query}`, options, FEW + 1);
    }
    for (const query of ['limit=2', 'limit=2&status=active,trialing,past_due', 'limit=2&offset=4']) {
      await expectTotal(`/subscriptions?${query}`, options, FEW);
    }
  });

  test('counts reference records, organizations, members and the refunds of a payment', async () => {
    const [admin, owner] = [await signIn(service, { is_admin: true }), await newPerson(service)];
    for (let number = 0; number < FEW; number += 1) {
      await service.put(
        `/admin/products/total-${number}`,
        { name: 'Tea', total_cents: 100, currency: 'EUR' },
        admin.options,
      );
    }
    await expectTotal('/admin/products?limit=2', admin.options, FEW);
    const ids: string[] = [];
    for (let number = 0; number < FEW; number += 1) ids.push(await newOrganization(service, owner));
    await expectTotal('/organizations?limit=2', owner.options, FEW);
    const [organizationId = ''] = ids;
    for (let number = 0; number < FEW; number += 1) {
      await addMember(service, owner, { organizationId, email: (await newPerson(service)).email });
      await expectTotal(`/organizations/${organizationId}/members?limit=2`, owner.options, number + 2);
      await expectTotal(`/organizations/${organizationId}/members?limit=2&role=member`, owner.options, number + 1);
    }
    const paid = (await intent(owner.options, { payment_method_id: 'pm_card_visa' })).body;
    await service.post(`/payments/confirm/${paid.id}`, {}, owner.options);
    for (let number = 0; number < FEW; number += 1) {
      await created(service.post(`/payments/${paid.id}/refunds`, { amount_cents: 100 }, admin.options));
      await expectTotal(`/payments/${paid.id}/refunds`, admin.options, number + 1);
    }
  });

  test('counts log entries across several partitions', async () => {
    const { userId, options } = await signIn(service);
    for (let number = 0; number < MADE; number += 1) {
      const entry = {
        ...({ provider: 'provider_a', eventType: 'payment.created', direction: 'outbound', attempt: 1 } as const),
        ...({
          status: number % 4 === 0 ? 'failed' : 'success',
          target: 'WEBHOOK_1',
          payload: {},
          response: {},
        } as const),
        ...{ eventId: `msg_${userId}_${number}`, createdAt: iso(service.now() + number), userId },
      };
      await changeTable(service, { put: logItem(entry) });
    }
    for (const [query, total] of [
      ['limit=2', MADE],
      ['limit=100', MADE],
      ['limit=2&status=failed', MADE / 4],
      ['limit=2&offset=90', MADE],
      ['limit=2&event_type=payment.created', MADE],
      ['limit=2&event_type=payment.failed', 0],
    ] as const) {
      await expectTotal(`/webhooks/logs?${query}`, options, total);
    }
  });
});

describe('the cursor pages of a list', () => {
  test('all show the total of the whole list', async () => {
    const { options } = await signIn(service);
    const count = 23;
    await Promise.all(Array.from({ length: count }, () => created(intent(options))));
    for (const filter of ['', '&search=tea', '&status=requires_payment_method,created', '&orderDir=asc']) {
      let items = 0;
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const path = `/payments?limit=5${filter}${cursor && `&cursor=${cursor}`}`;
        const answer = await listOf(path, options);
        await expectTotal(path, options, count);
        items += shown(answer).count;
        cursor = answer.body.meta.next_cursor;
      }
      expect(items).toBe(count);
    }
  });
});

describe('the total of a list with more than 1,000 records', () => {
  const COUNT = 1_300;
  let user: User;
  const start = () => service.now() - 20 * DAY_MS;

  beforeAll(async () => {
    user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const { connection } = service.host();
    const at = (index: number) => iso(start() + index * 10 * MINUTE_MS);
    const items = Array.from({ length: COUNT }, (_, index) =>
      paymentItem(
        payment({
          ...{
            id: keyedId('seed', 'payment', 'totals', String(index)),
            userId: user.userId,
            userEmail: 'many@example.com',
          },
          ...{ createdAt: at(index), updatedAt: at(index), status: index % 2 === 0 ? 'succeeded' : 'failed' },
          ...{ description: index % 10 === 0 ? 'festival' : 'supper' },
        }),
        service.now(),
      ),
    );
    for (let from = 0; from < COUNT; from += 100) {
      await connection.transact(items.slice(from, from + 100).map((put) => ({ put })));
    }
  });

  /** Expects an exact total, or an estimate that is not below the page. @returns true if the total is exact */
  const totalOf = async (query: string, offset: number, count: number): Promise<boolean> => {
    const answer = await listOf(`/payments?${query}`, user.options);
    const { count: items, isExact } = shown(answer);
    const { total, hasMore } = answer.body.meta;
    expect({ query, isExact: answer.headers.get('x-total-count') !== null }).toEqual({ query, isExact });
    if (isExact) expect({ query, total }).toEqual({ query, total: count });
    else expect(total).toBeGreaterThanOrEqual(offset + items + (hasMore ? 1 : 0));
    return isExact;
  };

  test.each(['before', 'after'])('is exact or marked as an estimate, %s the counters have caught up', async (when) => {
    if (when === 'after') await service.settle();
    expect(await totalOf('limit=50', 0, COUNT)).toBe(false);
    for (const page of [2, 20, 25]) await totalOf(`limit=50&page=${page}`, (page - 1) * 50, COUNT);
    expect(await totalOf('limit=50&page=26', COUNT - 50, COUNT)).toBe(true);
    expect(await totalOf('limit=50&page=27', COUNT, COUNT)).toBe(true);
    await totalOf('limit=50&status=succeeded', 0, COUNT / 2);
    expect(await totalOf('limit=50&search=festival', 0, COUNT / 10)).toBe(true);
    expect(
      await totalOf(
        `limit=50&created_at_from=${iso(start() + DAY_MS)}&created_at_to=${iso(start() + 7 * DAY_MS)}`,
        0,
        865,
      ),
    ).toBe(true);
    await totalOf('limit=50&page=1000&orderDir=asc', 0, COUNT);
    const first = await listOf('/payments?limit=50', user.options);
    expect(await totalOf(`limit=50&cursor=${first.body.meta.next_cursor}`, 50, COUNT)).toBe(false);
  });

  test('is estimated from the counters', async () => {
    await service.settle();
    const { body } = await listOf('/payments?limit=50', user.options);
    expect(body.meta).toMatchObject({ total: COUNT, total_is_exact: false, hasMore: true });
  });

  test('is absent from X-Total-Count of a bare list until its last page', async () => {
    const { options, userId } = await signIn(service);
    const count = 1_050;
    for (let index = 0; index < count; index += 1) {
      const id = keyedId('seed', 'address', 'totals', String(index));
      const at = iso(start() + index);
      const address = {
        id,
        version: 1,
        createdAt: at,
        updatedAt: at,
        userId,
        type: 'billing',
        country: 'US',
        isPartial: true,
        isBusiness: false,
      };
      await changeTable(service, { put: recordItem(addressShape, addressShape.read(address)) });
    }
    const first = await listOf('/addresses', options);
    expect([first.body.length, first.headers.get('x-total-count')]).toEqual([100, null]);
    await expectTotal('/addresses?offset=1000', options, count);
  });
});
