import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { PATIENT, partitionOf, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { CREATE_KINDS } from './keyed-creates.ts';
import { company } from './payers.ts';

/** For a day, all creates under one Idempotency-Key make one record. */
const service = withHost({ frozen: true, env: PATIENT });

const refusedKey = { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

describe.each(CREATE_KINDS)('a $name create under a key', (kind) => {
  const create = (options: RequestOptions, fields = {}) => service.post(kind.path, kind.body(fields), options);

  test('returns the current record when repeated, and creates no other record', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'one' };
    const first = await create(keyed, { [kind.field]: 'Ada' });
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect((await service.put(kind.changePath(first.body.id), { [kind.field]: 'Grace' }, user.options)).status).toBe(
      200,
    );
    const again = await create(keyed, { [kind.field]: 'Ada' });
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, [kind.field]: 'Grace' } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await kind.listed(service, user)).toEqual([first.body.id]);
  });

  test('is refused with another body or for another owner, but another user may use the same key', async () => {
    const acme = await company(service);
    const keyed = { ...acme.owner.options, idempotencyKey: 'other' };
    const first = await create(keyed);
    expect(first.status).toBe(201);
    expect(await create(keyed, { [kind.field]: 'Other' })).toMatchObject(refusedKey);
    expect(await create(keyed, { organization_id: acme.id })).toMatchObject(refusedKey);
    const others = await create({ ...acme.admin.options, idempotencyKey: 'other' });
    expect(others.status).toBe(201);
    expect(others.body.id).not.toBe(first.body.id);
  });

  test('creates another record a day later', async () => {
    const user = await signIn(service, { expires_in: 5 * DAY_SECONDS });
    const keyed = { ...user.options, idempotencyKey: 'daily' };
    const first = await create(keyed);
    await service.advance(DAY_SECONDS - HOUR_SECONDS);
    expect((await create(keyed)).body.id).toBe(first.body.id);
    await service.advance(HOUR_SECONDS + 1);
    const second = await create(keyed, { [kind.field]: 'Second' });
    expect(second).toMatchObject({ status: 201, body: { [kind.field]: 'Second' } });
    expect(second.body.id).not.toBe(first.body.id);
    expect((await create(keyed, { [kind.field]: 'Second' })).body.id).toBe(second.body.id);
    expect(await kind.listed(service, user)).toHaveLength(2);
    expect(second.body.customer_id).toBe(first.body.customer_id);
  });

  test('creates one record from 20 concurrent requests, and the other requests get a retry delay', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'at-once' };
    const fields = { [kind.field]: `Simultaneous: ${kind.name}` };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(keyed, fields)));
    const created = answers.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } });
      expect(answer.headers.get('retry-after')).toBe(kind.retryAfter);
    }
    const again = await create(keyed, fields);
    expect(again).toMatchObject({ status: 201, body: { id: created[0]?.body.id } });
    await service.advance(HOUR_SECONDS);
    expect(await kind.listed(service, user)).toEqual([again.body.id]);
    expect(await kind.made(service, again.body)).toBe(1);
    expect((await service.get('/customers', user.options)).body.length).toBeLessThanOrEqual(1);
    if (kind.events) expect(await kind.events(service, again.body.id)).toHaveLength(1);
  });

  test('is refused with an invalid key', async () => {
    const user = await signIn(service);
    for (const idempotencyKey of [' ', 'x'.repeat(256)]) {
      expect(await create({ ...user.options, idempotencyKey })).toMatchObject({
        status: 400,
        body: { code: 'IDEMPOTENCY_KEY_INVALID' },
      });
    }
  });
});

const DELETABLE = CREATE_KINDS.filter(({ item }) => item);

describe.each(DELETABLE)('a $name create under a key', (kind) => {
  const create = (options: RequestOptions, fields = {}) => service.post(kind.path, kind.body(fields), options);

  test('is refused after its record is deleted, and creates another record a day later', async () => {
    const { item } = kind;
    const user = await signIn(service, { expires_in: 5 * DAY_SECONDS });
    const keyed = { ...user.options, idempotencyKey: 'gone' };
    const { body } = await create(keyed, { [kind.field]: 'Secret name' });
    expect((await service.request('DELETE', kind.changePath(body.id), user.options)).status).toBe(204);
    const [{ tr: _, ...left }] = await partitionOf(service, `${item?.pk}#${body.id}`);
    expect(left).toEqual({
      ...{ pk: `${item?.pk}#${body.id}`, sk: item?.sk, tombstone: true, requestHash: expect.any(String) },
      ...{ createdAt: body.created_at, ttl: Math.floor(Date.parse(body.created_at) / 1_000) + DAY_SECONDS },
    });
    expect(await create(keyed, { [kind.field]: 'Secret name' })).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect(await create(keyed, { [kind.field]: 'Other' })).toMatchObject(refusedKey);
    expect((await service.get(kind.changePath(body.id), user.options)).status).toBe(404);
    await service.advance(DAY_SECONDS + 1);
    const next = await create(keyed, { [kind.field]: 'Secret name' });
    expect(next.status).toBe(201);
    expect(await kind.listed(service, user)).toEqual([next.body.id]);
  });
});
