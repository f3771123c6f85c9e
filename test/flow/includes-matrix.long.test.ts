import { beforeAll, describe, expect, test } from 'vitest';
import { INCLUDES, type PaymentInclude } from '../../shared/queries/includes.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { productBody, projectBody } from '../builders/reference.ts';
import { changeTable, itemsOf, PATIENT } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { createMatrixFixtures, type MatrixFixtures, type RecordCreator } from './matrix/fixtures.ts';
import type { CallerName, Column } from './matrix/tables.ts';
import type { ParsedJson } from './routes.ts';
import { OWN_BILLING, payer, subscribe } from './subscribers.ts';

/**
 * Every include × every caller × every owner of the included record. An include shows the response of the record's own
 * route to that caller, and null if the route refuses. The ids are stored directly in the table, so that each caller
 * owns a payment and a subscription that name every record.
 */
const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...PATIENT } });

/** The callers of the authorization matrix who can have payments, a former member, and a buyer without any role. */
const CALLERS = [
  'owner',
  'admin',
  'billing',
  'member',
  'removed member',
  'user without organization',
  'owner of another organization',
  'platform admin',
  'own guest token',
  "other's guest token",
] as const;
type Caller = (typeof CALLERS)[number];
const isGuest = (caller: Caller): boolean => caller.endsWith('guest token');

const COLUMNS = ['own', "another's", 'organization', 'another organization', 'guest'] as const satisfies Column[];
const WHOSE = [...COLUMNS, 'gone'] as const;
type Whose = (typeof WHOSE)[number];

/** The ids of one record of each kind, of one owner. */
interface Ids {
  readonly payment_method: string;
  readonly subscription: string;
  readonly organization: string;
  readonly project: string;
  readonly product: string;
}

const RESOURCES = INCLUDES.filter((name) => name !== 'order');
type Resource = Exclude<PaymentInclude, 'order'>;

let fixtures: MatrixFixtures;
let adminOptions: RequestOptions;
let removed: { readonly options: RequestOptions; readonly userId: string };
const ids = new Map<string, Ids>();

const optionsOf = (caller: Caller): RequestOptions =>
  caller === 'removed member' ? removed.options : { headers: fixtures.callers[caller].carriers[0]?.headers ?? {} };
const userIdOf = (caller: Caller): string =>
  caller === 'removed member' ? removed.userId : fixtures.userIdOf(caller as CallerName);
const makerOf = (caller: Caller, column: Column): RecordCreator => {
  if (column === 'own') return { options: optionsOf(caller), fields: {} };
  return fixtures.makerOf(caller as CallerName, column);
};
const idsFor = (caller: Caller, whose: Whose): Ids => {
  const found = ids.get(`${whose} ${whose === 'own' ? caller : ''}`);
  if (!found) throw new Error(`nothing was made for ${caller} × ${whose}`);
  return found;
};

const must = async (answer: ReturnType<typeof service.get>) => {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
};

const GONE: Ids = {
  payment_method: 'pmt_000000000000000000000000',
  subscription: 'sub_000000000000000000000000',
  organization: 'org_000000000000000000000000',
  project: 'gone',
  product: 'gone',
};

let made = 0;
/** Creates one record of every kind for the maker. */
const makeRecords = async ({ options, fields }: RecordCreator, userId: string | undefined): Promise<Ids> => {
  made += 1;
  const project = `project-${made}`;
  const product = `product-${made}`;
  const owner = 'organization_id' in fields ? fields : { owner_user_id: userId };
  await must(
    service.put(`/admin/projects/${project}`, projectBody({ ...owner, billing_email: 'b@example.com' }), adminOptions),
  );
  const secret = { provider_refs: { provider_a: 'price_1' }, metadata: { margin: '40' } };
  await must(service.put(`/admin/products/${product}`, productBody({ ...fields, ...secret }), adminOptions));
  const who = await payer(service, options, { token: VISA, fields });
  const { id } = await subscribe(service, who, { ...fields, total_cents: 0 });
  return {
    payment_method: who.names.payment_method_id,
    subscription: id,
    organization: String(fields['organization_id'] ?? GONE.organization),
    project,
    product,
  };
};

beforeAll(async () => {
  fixtures = await createMatrixFixtures(service);
  adminOptions = { headers: fixtures.callers['platform admin'].carriers[0]?.headers ?? {} };
  const session = await service.session({ email: 'removed.member@example.com' });
  removed = { options: { session: session.session_id }, userId: session.user_id };
  const members = `/organizations/${fixtures.organizationId}/members`;
  const owner = optionsOf('owner');
  const joined = await must(service.post(members, { email: 'removed.member@example.com', role: 'billing' }, owner));
  for (const caller of CALLERS) {
    // A guest owns no project; only users do.
    ids.set(`own ${caller}`, await makeRecords(makerOf(caller, 'own'), isGuest(caller) ? undefined : userIdOf(caller)));
  }
  for (const column of COLUMNS.filter((name) => name !== 'own')) {
    const userId = column === "another's" ? fixtures.userIdOf('anonymous') : undefined;
    ids.set(`${column} `, await makeRecords(fixtures.makerOf('owner', column), userId));
  }
  ids.set('gone ', GONE);
  expect((await service.request('DELETE', `${members}/${joined.data.id}`, owner)).status).toBe(200);
  await makePayments();
  await makeSubscriptions();
}, 120_000);

/** A route's response to this caller; undefined if it refuses. */
const direct = (path: string, caller: Caller) => {
  const answer = async () => {
    const { status, body } = await service.get(path, optionsOf(caller));
    return status === 200 ? (body.data ?? body) : undefined;
  };
  const known = answers.get(`${caller} ${path}`) ?? answer();
  answers.set(`${caller} ${path}`, known);
  return known;
};
/** Responses by request. They stay valid, because nothing changes after all records exist. */
const answers = new Map<string, Promise<ParsedJson>>();

const pick = (record: ParsedJson, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));

const BUYERS_PROJECT = ['id', 'name', 'slug'];
const PRODUCT_PRICES = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'currency'];
const PRODUCT_QUANTITIES = ['min_quantity', 'max_quantity'];
const PRODUCT_TERMS = ['billing_interval', 'interval_multiplier', 'trial_days', 'is_active', ...PRODUCT_QUANTITIES];
const BUYERS_PRODUCT = ['id', 'name', 'description', ...PRODUCT_PRICES, ...PRODUCT_TERMS];

/**
 * A project or product as platform admins see it; undefined if it does not exist. An include never names the admin of
 * the last change, so this admin is left out.
 */
const reference = async (kind: 'projects' | 'products', id: string) => {
  const found = await direct(`/admin/${kind}/${id}`, 'platform admin');
  if (found === undefined) return undefined;
  const { updated_by: admin, ...shown } = found;
  expect(admin).toEqual(expect.any(String));
  return shown;
};

/** The expected record of an include, read through the routes only. */
const EXPECTED: Readonly<Record<Resource, (id: string, caller: Caller) => Promise<unknown>>> = {
  payment_method: async (id, caller) => {
    const method = await direct(`/payment-methods/${id}`, caller);
    if (!method) return null;
    const { type, card_exp_month, card_exp_year } = method;
    return {
      ...pick(method, ['id', 'wallet_type', 'card_brand', 'alias']),
      ...{
        payment_type: type,
        last_four: method.card_last_four,
        expiry_month: card_exp_month,
        expiry_year: card_exp_year,
      },
    };
  },
  subscription: async (id, caller) => (await direct(`/subscriptions/${id}`, caller)) ?? null,
  organization: async (id, caller) => {
    const organization = await direct(`/organizations/${id}`, caller);
    if (!organization) return null;
    const { your_role: _, ...shown } = organization;
    return shown;
  },
  project: async (id, caller) => {
    const whole = await reference('projects', id);
    if (!whole) return null;
    const isOpen =
      caller === 'platform admin' || (await direct(`/memberships?entity_type=project&entity_id=${id}`, caller));
    return pick(whole, isOpen ? [...BUYERS_PROJECT, 'billing_email'] : BUYERS_PROJECT);
  },
  product: async (id, caller) => {
    const whole = await reference('products', id);
    if (!whole) return null;
    const isOpen = caller === 'platform admin' || (await direct(`/organizations/${whole.organization_id}`, caller));
    return isOpen ? whole : pick(whole, BUYERS_PRODUCT);
  },
};

interface Naming {
  readonly caller: Caller;
  readonly whose: Whose;
  /** The organization of the named records; undefined for guests and for the deleted organization. */
  readonly organizationId: string | undefined;
}

const organizationIn = (caller: Caller, whose: Whose): string | undefined => {
  const { organization } = idsFor(caller, whose);
  return isGuest(caller) || organization === GONE.organization ? undefined : organization;
};
const nameOf = ({ caller, whose, organizationId }: Naming): string => `${caller} ${whose} ${organizationId}`;

/** Payments by caller and owner. Each payment names all records of one owner. */
const payments = new Map<string, string>();

const makePayments = async (): Promise<void> => {
  const cells = CALLERS.flatMap((caller) => WHOSE.map((whose) => ({ caller, whose })));
  const wanted: Naming[] = cells.flatMap((cell) => {
    const organizationId = organizationIn(cell.caller, cell.whose);
    const personal = { ...cell, organizationId: undefined };
    return organizationId === undefined ? [personal] : [personal, { ...cell, organizationId }];
  });
  for (const naming of wanted) {
    const { id } = await must(service.post('/payments/intents', intentBody(), optionsOf(naming.caller)));
    payments.set(nameOf(naming), id);
  }
  const stored = new Map(
    (await itemsOf(service, 'PAY#')).filter(({ sk }) => sk === 'PAY').map((item) => [item.pk, item]),
  );
  for (const naming of wanted) {
    const named = idsFor(naming.caller, naming.whose);
    const names = {
      paymentMethodId: named.payment_method,
      projectId: named.project,
      productId: named.product,
      subscriptionId: named.subscription,
      organizationId: naming.organizationId,
    };
    await changeTable(service, { put: { ...stored.get(`PAY#${payments.get(nameOf(naming))}`), ...names } });
  }
};

const subscriptionCopy = (caller: Caller, whose: Whose): string => `copy ${caller} ${whose}`;

/** Subscriptions of the callers, each with the method and project of one owner. */
const makeSubscriptions = async (): Promise<void> => {
  const stored = new Map(
    (await itemsOf(service, 'SUB#')).filter(({ sk }) => sk === 'SUB').map((item) => [item.pk, item]),
  );
  for (const caller of CALLERS) {
    const own = stored.get(`SUB#${idsFor(caller, 'own').subscription}`);
    for (const whose of WHOSE) {
      const { payment_method: paymentMethodId, project: projectId } = idsFor(caller, whose);
      const id = subscriptionCopy(caller, whose);
      const keys = { pk: `SUB#${id}`, sort: `${own.createdAt}#${id}` };
      await changeTable(service, { put: { ...own, ...keys, id, paymentMethodId, projectId } });
    }
  }
};

/** The number of times that each include was shown in full, in the buyer's view, or not at all. */
const tally = new Map<string, number>();
const WHOLE_FIELD: Readonly<Partial<Record<PaymentInclude, string>>> = {
  project: 'billing_email',
  product: 'metadata',
};
const count = (name: PaymentInclude, shown: ParsedJson): void => {
  const how = shown === null ? 'null' : (WHOLE_FIELD[name] ?? 'id') in shown ? 'whole' : 'buyer';
  tally.set(`${name} ${how}`, (tally.get(`${name} ${how}`) ?? 0) + 1);
};

/** Checks the includes of one payment, by `include=` and by the shorthands. */
const check = async (naming: Naming): Promise<void> => {
  const { caller, whose, organizationId } = naming;
  const cell = nameOf(naming);
  const id = payments.get(cell);
  const named = idsFor(caller, whose);
  const expected = Object.fromEntries(
    await Promise.all(RESOURCES.map(async (name) => [name, await EXPECTED[name](named[name], caller)] as const)),
  );
  const listed = await direct(`/payments/${id}?include=${INCLUDES.join(',')}`, caller);
  const flags = INCLUDES.map((name) => `include_${name}=true`).join('&');
  expect(await direct(`/payments/${id}?${flags}`, caller), cell).toEqual(listed);
  const organization = organizationId === undefined ? null : expected['organization'];
  expect(pick(listed, RESOURCES), cell).toEqual({ ...expected, organization });
  expect(listed.order).toMatchObject({ payment_id: id, product_id: named.product, status: 'pending' });
  for (const name of INCLUDES) count(name, listed[name]);
};

describe('the includes matrix', () => {
  test.each(CALLERS)('shows %s a payment’s included records as on the records’ own routes', async (caller) => {
    for (const whose of WHOSE) {
      const organizationId = organizationIn(caller, whose);
      await check({ caller, whose, organizationId: undefined });
      if (organizationId !== undefined) await check({ caller, whose, organizationId });
    }
  });

  test.each(CALLERS)(
    'shows %s the methods included in a list of payments as on the methods’ own route',
    async (caller) => {
      for (const query of ['include=payment_method', 'include=pm', 'include_pm=true', 'include_payment_method=true']) {
        const listed = await direct(`/payments?limit=50&organization_id=&${query}`, caller);
        const shown = new Map(listed.map(({ id, payment_method }: ParsedJson) => [id, payment_method]));
        for (const whose of WHOSE) {
          const id = payments.get(nameOf({ caller, whose, organizationId: undefined }));
          const expected = await EXPECTED.payment_method(idsFor(caller, whose).payment_method, caller);
          expect([whose, shown.get(id)]).toEqual([whose, expected]);
        }
      }
    },
  );

  test.each(CALLERS.filter((caller) => !isGuest(caller)))(
    'shows %s the records included in a list of subscriptions as on the records’ own routes',
    async (caller) => {
      const listed = await direct('/subscriptions?include_pm=true&include_projects=true', caller);
      const shown = new Map<string, ParsedJson>(listed.map((one: ParsedJson) => [one.id, one]));
      for (const whose of WHOSE) {
        const named = idsFor(caller, whose);
        const { payment_method, project } = shown.get(subscriptionCopy(caller, whose));
        expect({ whose, payment_method, project }).toEqual({
          whose,
          payment_method: await EXPECTED.payment_method(named.payment_method, caller),
          project: await EXPECTED.project(named.project, caller),
        });
      }
    },
  );

  test('covers every include and each of its possible results', () => {
    const seen = Object.fromEntries([...tally].sort());
    for (const name of ['payment_method', 'subscription', 'organization'] as const) {
      expect(seen).toMatchObject({ [`${name} whole`]: expect.any(Number), [`${name} null`]: expect.any(Number) });
    }
    for (const name of ['project', 'product'] as const) {
      expect(seen).toMatchObject({ [`${name} whole`]: expect.any(Number), [`${name} buyer`]: expect.any(Number) });
    }
  });

  test('grants nothing to callers without a credential or with only an e-mail', async () => {
    const id = payments.get(nameOf({ caller: 'own guest token', whose: 'own', organizationId: undefined }));
    for (const name of ['anonymous', 'guest_data', 'bad session', 'expired session'] as const) {
      const headers = fixtures.callers[name].carriers[0]?.headers ?? {};
      for (const path of [`/payments/${id}?include=${INCLUDES.join(',')}`, '/payments?include=pm']) {
        expect((await service.get(path, { headers })).status, `${name} ${path}`).toBe(401);
      }
    }
    const stranger = await service.get(`/payments/${id}?include=pm`, optionsOf("other's guest token"));
    expect(stranger.status).toBe(404);
  });
});
