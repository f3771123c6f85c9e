import { beforeAll, describe, expect, test } from 'vitest';
import { businessAddress, fullAddress, partialAddress } from '../builders/address.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, partitionOf, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import type { ParsedJson, RefusalBody } from './routes.ts';

const service = withHost({ frozen: true });

let user: User;
beforeAll(async () => {
  user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
});

const create = async (fields: ParsedJson = fullAddress(), options: RequestOptions = user.options) => {
  const answer = await service.post('/addresses', fields, options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
  return answer.body;
};
const get = (id: string) => service.get(`/addresses/${id}`, user.options);
const update = (id: string, fields: unknown) => service.put(`/addresses/${id}`, fields, user.options);
const stored = async (id: string) => (await partitionOf(service, `ADDR#${id}`))[0];

const refusal = (...missing: readonly string[]) => ({
  status: 400,
  body: {
    success: false,
    code: 'VALIDATION_ERROR',
    details: missing.map((path) => ({ path, rule: 'required', message: expect.stringContaining('is required') })),
    request_id: expect.any(String),
  },
});

describe('an address', () => {
  test('can be created, read, changed and deleted, each returned without an envelope', async () => {
    const now = new Date(service.now()).toISOString();
    const created = await service.post(
      '/addresses',
      fullAddress({ line2: 'Floor 2', state: 'MA', alias: 'Home' }),
      user.options,
    );
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^addr_[0-9a-f]{24}$/),
      type: 'billing',
      country: 'US',
      line1: '1 Main St',
      line2: 'Floor 2',
      city: 'Boston',
      state: 'MA',
      postal_code: '02108',
      name: 'Ada Lovelace',
      is_partial: false,
      is_business: false,
      business_name: null,
      tax_id: null,
      tax_id_type: null,
      tax_id_valid: null,
      is_default: false,
      alias: 'Home',
      is_guest_address: false,
      created_at: now,
      updated_at: now,
    });
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(await get(id)).toMatchObject({ status: 200, body: created.body });
    await service.advance(1);
    const changed = await update(id, { alias: null, city: 'Salem', line2: null, state: '' });
    const later = new Date(service.now()).toISOString();
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.body).toEqual({ ...created.body, alias: null, city: 'Salem', line2: null, updated_at: later });
    expect((await get(id)).body).toEqual(changed.body);
    const removed = await service.request('DELETE', `/addresses/${id}`, user.options);
    expect([removed.status, removed.body]).toEqual([204, undefined]);
    expect(await get(id)).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'address' } },
    });
    const again = await service.request('DELETE', `/addresses/${id}`, user.options);
    expect(again.status).toBe(404);
    expect(await partitionOf(service, `ADDR#${id}`)).toEqual([]);
  });

  test('is returned in an envelope on request', async () => {
    const { id } = await create();
    expect((await service.get(`/addresses/${id}?envelope=true`, user.options)).body).toMatchObject({
      success: true,
      data: { id },
    });
  });

  test('keeps its version when a patch changes nothing', async () => {
    const { id, updated_at } = await create();
    await service.advance(1);
    expect(await update(id, { city: 'Boston', is_partial: false })).toMatchObject({
      status: 200,
      body: { updated_at },
    });
    expect(await update(id, {})).toMatchObject({ status: 200, body: { updated_at } });
    expect(await stored(id)).toMatchObject({ version: 1 });
  });

  test.each([
    ['partial', partialAddress({ country: 'de' }), { country: 'DE', is_partial: true, line1: null }],
    ['full', fullAddress(), { is_partial: false, is_business: false }],
    [
      'full in a country without postal codes',
      fullAddress({ country: 'HK', postal_code: null }),
      { postal_code: null },
    ],
    [
      'full in a country whose postal codes are optional',
      fullAddress({ country: 'IE', postal_code: '' }),
      { postal_code: null },
    ],
    ['full without a name', fullAddress({ name: undefined }), { is_partial: false, name: null }],
    ['of a business', businessAddress(), { is_business: true, business_name: 'Engines GmbH', city: null }],
    ['for shipping', partialAddress({ type: 'shipping' }), { type: 'shipping' }],
  ])('may be %s', async (_, fields, expected) => {
    expect(await create(fields)).toMatchObject(expected);
  });

  test.each([
    ['full with only a country', { country: 'US' }, ['line1', 'city', 'postal_code']],
    ['full in Israel without a postal code', fullAddress({ country: 'IL', postal_code: null }), ['postal_code']],
    ['full without a postal code', fullAddress({ postal_code: ' ' }), ['postal_code']],
    ['of a business without the business name', businessAddress({ business_name: '' }), ['business_name']],
    ['partial, of a business without the business name', partialAddress({ is_business: true }), ['business_name']],
  ])('is refused: %s', async (_, fields, missing) => {
    const before = (await itemsOf(service, 'ADDR#')).length;
    expect(await service.post('/addresses', fields, user.options)).toMatchObject(refusal(...missing));
    expect((await itemsOf(service, 'ADDR#')).length).toBe(before);
  });

  test.each([
    ['no country', { is_partial: true }, 'country'],
    ['an unknown country', partialAddress({ country: 'UK' }), 'country'],
    ['an unknown type', partialAddress({ type: 'home' }), 'type'],
    ['an unknown tax id type', partialAddress({ tax_id_type: 'ssn' }), 'tax_id_type'],
    ['a line that is too long', partialAddress({ line1: 'x'.repeat(201) }), 'line1'],
  ])('is refused with %s', async (_, fields, path) => {
    const answer = await service.post('/addresses', fields, user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', details: [{ path }] } });
  });

  test('is refused with a nickname, and the error says "use alias"', async () => {
    const refused = { status: 400, body: { details: [{ path: 'nickname', message: 'use alias' }] } };
    expect(await service.post('/addresses', fullAddress({ nickname: 'Home' }), user.options)).toMatchObject(refused);
    const { id } = await create();
    expect(await update(id, { nickname: 'Home' })).toMatchObject(refused);
    expect(await stored(id)).not.toHaveProperty('nickname');
  });
});

describe('an update of an address', () => {
  test.each([
    [
      'partial → full without the required fields',
      partialAddress(),
      { is_partial: false },
      ['line1', 'city', 'postal_code'],
    ],
    [
      'partial → full with only some of the required fields',
      partialAddress({ country: 'IT', city: 'Rome' }),
      { is_partial: false, line1: 'Via 1' },
      ['postal_code'],
    ],
    ['full, with required fields cleared', fullAddress(), { line1: null, city: null }, ['line1', 'city']],
    ['full → a business without the business name', fullAddress(), { is_business: true }, ['business_name']],
    ['business → no business, incomplete', businessAddress(), { is_business: false }, ['line1', 'city', 'postal_code']],
    ['a business with its name cleared', businessAddress(), { business_name: null }, ['business_name']],
    [
      'a change to a country that requires a postal code',
      fullAddress({ country: 'HK', postal_code: null }),
      { country: 'FR' },
      ['postal_code'],
    ],
  ])('is refused: %s', async (...[_, fields, patch, missing]) => {
    const { id } = await create(fields);
    const before = await stored(id);
    expect(await update(id, patch)).toMatchObject(refusal(...missing));
    expect(await stored(id)).toEqual(before);
  });

  test.each([
    [
      'partial → full',
      partialAddress(),
      { is_partial: false, line1: 'Rue 1', city: 'Paris', name: 'A', postal_code: '75001' },
    ],
    ['partial → full with fields stored before', fullAddress({ is_partial: true }), { is_partial: false }],
    ['full → partial', fullAddress(), { is_partial: true, line1: null, city: null, postal_code: null, name: null }],
    ['full → a business', fullAddress(), { is_business: true, business_name: 'Engines' }],
    ['a business → partial', businessAddress(), { is_partial: true, is_business: false, business_name: null }],
    ['a change to a country that requires no postal code', fullAddress(), { country: 'ae', postal_code: null }],
  ])('is accepted: %s', async (_, fields, patch) => {
    const { id } = await create(fields);
    const answer = await update(id, patch);
    const expected = { ...patch, ...('country' in patch && { country: patch.country?.toUpperCase() }) };
    expect(answer).toMatchObject({ status: 200, body: expected });
    expect(await get(id)).toMatchObject({ body: expected });
  });

  test.each([null, ''])('cannot clear the country, because %j counts as absent', async (country) => {
    const { id } = await create();
    expect(await update(id, { country })).toMatchObject({ status: 200, body: { country: 'US' } });
  });

  test('clears a text field that is sent as spaces only', async () => {
    const { id } = await create(fullAddress({ line2: 'Floor 2' }));
    expect(await update(id, { line2: ' ' })).toMatchObject({ status: 200, body: { line2: null } });
  });

  test('is applied as a whole or refused with 409 while other updates run concurrently', async () => {
    const { id } = await create();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => update(id, { alias: `alias ${index}`, state: String(index) })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(won.length).toBeGreaterThan(0);
    const { body } = await get(id);
    expect(body.alias).toBe(`alias ${body.state}`);
    expect(await stored(id)).toMatchObject({ version: 1 + won.length });
  });
});

describe('the tax id of an address', () => {
  test.each([
    ['valid', { tax_id: ' de 136,695 976', tax_id_type: 'vat' }, true],
    ['not valid', { tax_id: 'DE136695978', tax_id_type: 'vat' }, false],
    ['of an unknown type', { tax_id: 'HRB 12345', tax_id_type: 'other' }, null],
    ['without a type', { tax_id: 'DE136695976' }, null],
  ])('is stored as it was sent: %s', async (_, fields, tax_id_valid) => {
    const { id } = await create(businessAddress(fields));
    expect((await get(id)).body).toMatchObject({ tax_id_type: null, ...fields, tax_id_valid });
  });

  test('is validated again when the tax id, its type or the country changes', async () => {
    const { id } = await create(businessAddress({ country: 'ES', tax_id: '54362315-K', tax_id_type: 'nif' }));
    const checked = async (patch: unknown) => (await update(id, patch)).body.tax_id_valid;
    expect((await get(id)).body.tax_id_valid).toBe(true);
    expect(await checked({ country: 'PT' })).toBe(false);
    expect(await checked({ tax_id: '501 964 843' })).toBe(true);
    expect(await checked({ tax_id_type: 'kvk' })).toBe(null);
    expect(await checked({ tax_id: null, tax_id_type: 'nif' })).toBe(null);
    expect((await get(id)).body).toMatchObject({ tax_id: null, tax_id_type: 'nif', tax_id_valid: null });
  });
});

describe('a read-only field of an address', () => {
  const FORBIDDEN = {
    id: 'addr_000000000000000000000001',
    version: 99,
    user_id: 'user_other',
    userId: 'user_other',
    owner: 'USER#user_other#ADDR',
    guest_id: 'gst_1',
    guestId: 'gst_1',
    guest_email: 'guest@example.com',
    guestEmail: 'guest@example.com',
    organizationId: 'org_1',
    is_guest_address: true,
    tax_id_valid: true,
    taxIdValid: true,
    created_at: '2001-01-01T00:00:00.000Z',
    createdAt: '2001-01-01T00:00:00.000Z',
    updated_at: '2001-01-01T00:00:00.000Z',
    requestHash: 'x',
    project_id: 'project_1',
    pk: 'ADDR#x',
    sk: 'x',
    sort: 'x',
    f: { t: 'shipping' },
    ttl: 1,
    tombstone: true,
    status: 'x',
    metadata: { a: 'b' },
  };
  const stoppedAt = ({ body }: TestAnswer<RefusalBody>) => body.details.map(({ path }) => path);

  test('is refused on create', async () => {
    const count = (await itemsOf(service, 'ADDR#')).length;
    const answer = await service.post('/addresses', partialAddress(FORBIDDEN), user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(stoppedAt(answer)).toEqual(Object.keys(FORBIDDEN));
    expect(await itemsOf(service, 'ADDR#')).toHaveLength(count);
  });

  test('is refused on update unless its value is unchanged', async () => {
    const made = await create(partialAddress());
    const before = await stored(made.id);
    const { id, created_at, updated_at, is_guest_address, tax_id_valid, ...unknown } = FORBIDDEN;
    const answer = await update(made.id, { ...FORBIDDEN, guest_data: {}, alias: 'mine' });
    expect(stoppedAt(answer)).toEqual([...Object.keys(unknown), 'guest_data']);
    const readOnly = await update(made.id, { id, is_guest_address, organization_id: 'org_demo', alias: 'mine' });
    expect(stoppedAt(readOnly)).toEqual(['id', 'is_guest_address', 'organization_id']);
    expect(await stored(made.id)).toEqual(before);
  });
});

describe('an Idempotency-Key', () => {
  const withKey = (key: string, options = user.options) => ({ ...options, idempotencyKey: key });

  test('creates one address for any number of repeats', async () => {
    const body = fullAddress({ alias: 'once', is_default: true });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => service.post('/addresses', body, withKey('once'))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body: made }) => made.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(7);
  });

  test('returns the address in its current state for a repeated request', async () => {
    const { body } = await service.post('/addresses', fullAddress(), withKey('now'));
    await update(body.id, { alias: 'later', is_default: true });
    const replay = await service.post('/addresses', fullAddress(), withKey('now'));
    expect(replay).toMatchObject({ status: 201, body: { id: body.id, alias: 'later', is_default: true } });
  });

  test('is refused with another body, and may be reused by another user', async () => {
    const { body } = await service.post('/addresses', fullAddress(), withKey('body'));
    const other = await service.post('/addresses', fullAddress({ city: 'Salem' }), withKey('body'));
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    const stranger = await signIn(service);
    const theirs = await service.post('/addresses', fullAddress(), withKey('body', stranger.options));
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(body.id);
  });

  test('is refused for a day after its address is deleted, then creates a new address', async () => {
    const { body } = await service.post('/addresses', fullAddress(), withKey('gone'));
    await service.request('DELETE', `/addresses/${body.id}`, user.options);
    expect((await get(body.id)).status).toBe(404);
    expect((await update(body.id, { alias: 'x' })).status).toBe(404);
    const refused = await service.post('/addresses', fullAddress(), withKey('gone'));
    expect(refused).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    await service.advance(DAY_SECONDS);
    const repeated = await service.post('/addresses', fullAddress(), withKey('gone'));
    expect(repeated).toMatchObject({ status: 201, body: { alias: null } });
  });
});

describe('a guest', () => {
  const guestBody = (email: string, fields = {}) => fullAddress({ guest_data: { email, name: 'Guest' }, ...fields });

  test('creates an address and gets a token', async () => {
    const { status, body } = await service.post('/addresses', guestBody('Guest.A@example.com', { is_default: true }));
    expect(status).toBe(201);
    expect(body).toMatchObject({ is_guest_address: true, is_default: true, guest_token: expect.any(String) });
    const inAWeek = Math.floor(service.now() / 1_000) + 7 * DAY_SECONDS;
    expect(body.guest_token_expires_at).toBe(new Date(inAWeek * 1_000).toISOString());
    const item = await stored(body.id);
    expect(item).toMatchObject({ guestEmail: 'guest.a@example.com', guestId: expect.stringMatching(/^gst_/) });
    expect(item).not.toHaveProperty('userId');
    const again = await service.post('/addresses', fullAddress({ type: 'shipping' }), { guestToken: body.guest_token });
    expect(again.status).toBe(201);
    expect((await stored(again.body.id)).guestId).toBe(item.guestId);
  });

  test('may not read or change an address, even with a token', async () => {
    const { body } = await service.post('/addresses', guestBody('guest.b@example.com'));
    const byToken = { guestToken: body.guest_token };
    const path = `/addresses/${body.id}`;
    const answers = await Promise.all([
      service.get('/addresses', byToken),
      service.get(path, byToken),
      service.put(path, { alias: 'x' }, byToken),
      service.post(`${path}/set-default`, {}, byToken),
      service.request('DELETE', path, byToken),
    ]);
    for (const answer of answers) expect(answer).toMatchObject({ status: 401, body: { code: 'GUEST_NOT_ALLOWED' } });
    expect(await get(body.id)).toMatchObject({ status: 404 });
  });

  test('may not name an organization', async () => {
    const answer = await service.post('/addresses', guestBody('guest.c@example.com', { organization_id: 'org_demo' }));
    expect(answer).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } });
  });

  test('is refused without a token and without guest_data', async () => {
    expect(await service.post('/addresses', fullAddress())).toMatchObject({
      status: 401,
      body: { code: 'AUTHENTICATION_REQUIRED' },
    });
  });
});

describe('the creation of addresses by guests', () => {
  const limited = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

  test('is limited to 10 per minute per IP address, for any e-mail', async () => {
    const body = fullAddress({ guest_data: { email: 'often@example.com', name: 'Often' } });
    for (let made = 0; made < 10; made += 1) expect((await limited.post('/addresses', body)).status).toBe(201);
    const other = { ...body, guest_data: { email: 'seldom@example.com', name: 'Seldom' } };
    const refused = await limited.post('/addresses', other);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    await limited.advance(Number(refused.headers.get('retry-after')));
    expect((await limited.post('/addresses', body)).status).toBe(201);
  });
});
