import { consoleEntry } from '../../functions/console/bundle.ts';
import { payPageEntry } from '../../functions/pay-page/bundle.ts';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import { providerEventKey } from '../../shared/platform/keys.ts';
import { guestIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import type { PaymentRow } from './budgets.ts';
import {
  type BenchUser,
  backendOf,
  type Fields,
  get,
  intent,
  KEY_UNCACHED,
  listOf,
  newGuest,
  type PreparedRequest,
  paid,
  person,
  post,
  projectOf,
  type Scenario,
  savedMethod,
  storeOrganization,
  typical,
  UNCACHED,
  warmed,
  withKey,
} from './people.ts';
import type { Ask, Json, Service } from './service.ts';

const CONSOLE_SCRIPT: `/${string}` = `/console/assets/${consoleEntry.script}`;
const PAY_PAGE_SCRIPT: `/${string}` = `/pay/assets/${payPageEntry.script}`;
const DECLINED = 'pm_card_visa_chargeDeclined';

const createIntent =
  (fields: (service: Service, who: BenchUser) => Promise<Fields> = async () => ({})): Scenario =>
  async (service) => {
    const who = await person(service);
    return warmed(who, post('/payments/intents', who, typical(await fields(service, who))), 201);
  };

const confirm =
  (fields: Fields = {}, status = 200): Scenario =>
  async (service) => {
    const who = await person(service);
    const payment = await intent(service, who, fields);
    return warmed(who, post(`/payments/confirm/${payment.id}`, who), status);
  };

const getPayment =
  (query: string, fields: (service: Service, who: BenchUser) => Promise<Fields>): Scenario =>
  async (service) => {
    const who = await person(service);
    const payment = await paid(service, who, await fields(service, who));
    await service.advance(UNCACHED);
    return warmed(who, get(`/payments/${payment.id}${query}`, who));
  };

const list =
  (query: (service: Service, who: BenchUser) => Promise<Fields>): Scenario =>
  async (service) => {
    const who = await person(service);
    const asked = await query(service, who);
    const { organization_id, project_id } = asked;
    for (let made = 0; made < PAYMENTS_LISTED; made += 1) await paid(service, who, { organization_id, project_id });
    await service.advance(UNCACHED);
    const text = Object.entries(asked).map(([name, value]) => `${name}=${value}`);
    return warmed(who, get(`/payments?${text.join('&')}`, who));
  };
const summary = async (who: BenchUser, path: string, service: Service): Promise<PreparedRequest> => {
  await paid(service, who);
  return warmed(who, get(path, who));
};
/** One payment beyond a full page, so that a second page exists. */
const PAYMENTS_LISTED = 4;
const PAGE = { limit: '3' };

/** The payer has paid but the provider's events are lost, so only a sync finds the outcome. */
const settledUnheard = async (service: Service, who: BenchUser): Promise<Json> => {
  const payment = await intent(service, who, { payment_method_id: THREE_D_SECURE });
  await service.must(post(`/payments/confirm/${payment.id}`, who));
  await service.settle();
  await service.control('/simulator/webhooks', { mode: 'drop' });
  await service.control(`/simulator/payments/${payment.id}/authenticate`, { outcome: 'success' });
  await service.settle();
  await service.control('/simulator/webhooks', { mode: 'normal' });
  return payment;
};

const sync =
  (payment: (service: Service, who: BenchUser) => Promise<Json>, key?: string): Scenario =>
  async (service) => {
    const who = await person(service);
    const ask = post(`/payments/sync/${(await payment(service, who)).provider_payment_id}`, who);
    return warmed(who, key === undefined ? ask : withKey(ask, key));
  };

const change =
  (body: Fields): Scenario =>
  async (service) => {
    const who = await person(service);
    const { id } = await intent(service, who);
    return warmed(who, { method: 'PUT', path: `/payments/intents/${id}`, body, headers: who.headers });
  };

/** A platform admin's requests about another user's paid payment of 129.50. */
const ofPaid =
  (ask: (payment: Json, admin: BenchUser, service: Service) => Promise<Ask>, status = 200): Scenario =>
  async (service) => {
    const [admin, who] = [await person(service, { is_admin: true }), await person(service)];
    const payment = await paid(service, who);
    await service.settle();
    return warmed(admin, await ask(payment, admin, service), status);
  };

/** A platform admin's requests about another user's held payment. */
const ofHeld =
  (ask: (payment: Json, admin: BenchUser) => Ask): Scenario =>
  async (service) => {
    const [admin, who] = [await person(service, { is_admin: true }), await person(service)];
    const payment = await intent(service, who, { capture_method: 'manual' });
    await service.must(post(`/payments/confirm/${payment.id}`, who));
    await service.settle();
    return warmed(admin, ask(payment, admin), 200);
  };

/** A service key of the merchant that was used before, so it is cached. */
const warmKey = async (service: Service): Promise<Pick<BenchUser, 'headers'>> => {
  const key = await backendOf(service);
  await service.must(get('/admin/payments?limit=1', key));
  return key;
};

const getByKey = async (service: Service): Promise<PreparedRequest> => {
  const who = await person(service);
  const { id } = await intent(service, who);
  return { ask: get(`/payments/${id}`, await backendOf(service, who)), status: 200 };
};

const secondsToNextHour = (now: number): number => HOUR_SECONDS - (Math.floor(now / 1_000) % HOUR_SECONDS);

const refunding = ({ id }: Json, admin: Pick<BenchUser, 'headers'>, amount_cents = 100): Ask =>
  post(`/payments/${id}/refunds`, admin, { amount_cents });

/** Refunds a part of the payment and opens a dispute, so reads include both. */
const withMoneyBack = async (service: Service, payment: Json, admin: BenchUser): Promise<Json> => {
  const refund = await service.must(refunding(payment, admin));
  await service.control(`/simulator/payments/${payment.id}/disputes`, {});
  await service.settle();
  return refund;
};

const readingMoneyBack = (pathOf: (payment: Json, refund: Json) => string): Scenario =>
  ofPaid(async (payment, admin, service) => get(pathOf(payment, await withMoneyBack(service, payment, admin)), admin));

const cancel = async (service: Service): Promise<PreparedRequest> => {
  const who = await person(service);
  const { id } = await intent(service, who);
  return warmed(who, post(`/payments/intents/${id}/cancel`, who));
};

/** The payer confirms in the browser. The provider's own delivery is dropped, and the bench sends the event instead. */
const inbound =
  (id: string, before: (service: Service, ask: Ask) => Promise<unknown>): Scenario =>
  async (service) => {
    const who = await person(service);
    const payment = await intent(service, who);
    await service.settle();
    await service.control('/simulator/webhooks', { mode: 'drop' });
    await service.must({
      method: 'POST',
      path: `/_local/providers/stripe/v1/payment_intents/${payment.provider_payment_id}/confirm`,
      headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_secret: payment.client_secret, payment_method: VISA }).toString(),
    });
    await service.settle();
    await service.control('/simulator/webhooks', { mode: 'normal' });
    const ledger = await service.must(get(`/_local/simulator/ledger?payment_id=${payment.id}`, { headers: {} }));
    const event = { provider: 'provider_a', id, vocabulary: 'native', type: 'payment_intent.succeeded' };
    const ask = post('/_local/simulator/events', { headers: {} }, { ...event, object: ledger.payment_intents[0] });
    await before(service, ask);
    return { ask, status: 200, warm: listOf(who), stores: providerEventKey('provider_a', id) };
  };

export const PAYMENT_SCENARIOS: Readonly<Record<PaymentRow, Scenario>> = {
  refund: ofPaid(async (payment, admin) => refunding(payment, admin), 201),
  'refund with an Idempotency-Key': ofPaid(
    async (payment, admin) => withKey(refunding(payment, admin), `bench-refund-${payment.id}`),
    201,
  ),
  'refund of more than is left': ofPaid(async (payment, admin) => refunding(payment, admin, 99_999), 400),
  capture: ofHeld(({ id }, admin) => post(`/payments/${id}/capture`, admin, { total_cents: 1_000, tax_cents: 0 })),
  release: ofHeld(({ id }, admin) => post(`/payments/intents/${id}/cancel`, admin)),
  'get refund': readingMoneyBack((_, { id }) => `/refunds/${id}`),
  'list refunds of a payment': readingMoneyBack(({ id }) => `/payments/${id}/refunds`),
  'list disputes of a payment': readingMoneyBack(({ id }) => `/payments/${id}/disputes`),
  'list refunds of all payments': readingMoneyBack(() => '/refunds?limit=1'),
  'list disputes of all payments': readingMoneyBack(() => '/disputes?limit=1'),
  'create intent': createIntent(),
  'create intent in a project': createIntent(async (service, who) => ({ project_id: await projectOf(service, who) })),
  'create intent of an organization': createIntent(async (service, who) => ({
    organization_id: await storeOrganization(service, who),
  })),
  'create intent by a guest': async () => ({
    ask: post('/payments/intents', { headers: {} }, guestIntentBody(typical(), { name: 'Gus Doe' })),
    status: 201,
  }),
  'create intent with a saved method': createIntent(async (service, who) => ({
    payment_method_id: await savedMethod(service, who),
  })),
  'create intent with an Idempotency-Key': async (service) => {
    const who = await person(service);
    return warmed(who, withKey(post('/payments/intents', who, typical()), 'bench-1'), 201);
  },
  'create intent again with that key': async (service) => {
    const who = await person(service);
    const ask = withKey(post('/payments/intents', who, typical()), 'bench-2');
    await service.must(ask);
    return warmed(who, ask, 201);
  },
  'create payment': async (service) => {
    const who = await person(service);
    return warmed(who, post('/payments', who, typical()), 201);
  },
  confirm: confirm(),
  'confirm in a project': async (service) => {
    const who = await person(service);
    const payment = await intent(service, who, { project_id: await projectOf(service, who) });
    return warmed(who, post(`/payments/confirm/${payment.id}`, who));
  },
  'confirm with a saved method': async (service) => {
    const who = await person(service);
    const body = { payment_method_id: await savedMethod(service, who) };
    const payment = await intent(service, who, { payment_method_id: undefined });
    return warmed(who, post(`/payments/confirm/${payment.id}`, who, body));
  },
  'confirm for an organization': async (service) => {
    const who = await person(service);
    const payment = await intent(service, who, { organization_id: await storeOrganization(service, who) });
    return warmed(who, post(`/payments/confirm/${payment.id}`, who));
  },
  'confirm by a guest token': async (service) => {
    const who = await newGuest(service);
    return { ask: post(`/payments/confirm/${who.payment.id}`, who), status: 200 };
  },
  'confirm, declined': confirm({ payment_method_id: DECLINED }, 402),
  'confirm, 3-D Secure asked for': confirm({ payment_method_id: THREE_D_SECURE }),
  'confirm, the provider times out': async (service) => {
    const prepared = await confirm({}, 202)(service);
    await service.control('/simulator/faults', { path: 'confirm', times: 1, action: 'timeout_after' });
    return prepared;
  },
  'confirm with an Idempotency-Key': async (service) => {
    const prepared = await confirm()(service);
    return { ...prepared, ask: withKey(prepared.ask, 'bench-3') };
  },
  sync: sync(settledUnheard),
  'sync, nothing new': sync(paid),
  'sync with an Idempotency-Key': sync(settledUnheard, 'bench-4'),
  get: getPayment('', async () => ({})),
  'get with includes': getPayment('?include=payment_method,project', async (service, who) => ({
    payment_method_id: await savedMethod(service, who),
    project_id: await projectOf(service, who),
  })),
  'get of an organization': getPayment('', async (service, who) => ({
    organization_id: await storeOrganization(service, who),
  })),
  'get of an organization, cached': async (service) => {
    const prepared = await getPayment('', async (_, who) => ({
      organization_id: await storeOrganization(service, who),
    }))(service);
    return { ...prepared, warm: prepared.ask };
  },
  'get of an organization with includes': getPayment('?include=project', async (service, who) => ({
    organization_id: await storeOrganization(service, who),
    project_id: await projectOf(service, who),
  })),
  'get with includes of another organization': getPayment('?include=project', async (service, who) => ({
    project_id: await projectOf(service, who, { organization_id: await storeOrganization(service, who) }),
  })),
  'get by a guest token': async (service) => {
    const who = await newGuest(service);
    return { ask: get(`/payments/${who.payment.id}`, who), status: 200 };
  },
  'get by a service key, cached': async (service) => {
    const prepared = await getByKey(service);
    return { ...prepared, warm: prepared.ask };
  },
  'get by a service key': async (service) => {
    const prepared = await getByKey(service);
    await service.advance(secondsToNextHour(service.now()));
    await service.must(prepared.ask);
    await service.advance(KEY_UNCACHED);
    return prepared;
  },
  'get by a service key, first in an hour': async (service) => {
    const prepared = await getByKey(service);
    await service.must(prepared.ask);
    await service.advance(HOUR_SECONDS);
    return prepared;
  },
  'get by a service key of the merchant': async (service) => {
    const { id } = await intent(service, await person(service));
    const ask = get(`/payments/${id}`, await backendOf(service));
    return { ask, status: 200, warm: ask };
  },
  'create intent by a service key': async (service) => {
    const key = await backendOf(service, await person(service));
    return { ask: post('/payments/intents', key, typical()), status: 201, warm: listOf(key) };
  },
  'refund by a service key': ofPaid(async (payment, _, service) => refunding(payment, await warmKey(service)), 201),
  timeline: async (service) => {
    const who = await newGuest(service);
    return { ask: get(`/payments/${who.payment.id}/timeline`, who), status: 200 };
  },
  list: list(async () => PAGE),
  'list by status': list(async () => ({ ...PAGE, status: 'succeeded' })),
  'list by a guest token': async (service) => {
    const who = await newGuest(service);
    return { ask: get('/payments', who), status: 200 };
  },
  'list of an organization': list(async (service, who) => ({
    ...PAGE,
    organization_id: await storeOrganization(service, who),
  })),
  'list of an organization, cached': async (service) => {
    const organization = async (_: Service, who: BenchUser) => ({
      ...PAGE,
      organization_id: await storeOrganization(service, who),
    });
    const prepared = await list(organization)(service);
    return { ...prepared, warm: prepared.ask };
  },
  'list of a project': list(async (service, who) => ({ ...PAGE, project_id: await projectOf(service, who) })),
  'list with payment methods': async (service) => {
    const who = await person(service);
    await paid(service, who, { payment_method_id: await savedMethod(service, who) });
    return warmed(who, get('/payments?include=payment_method', who));
  },
  'list as CSV': async (service) => {
    const who = await person(service);
    for (let made = 0; made < PAYMENTS_LISTED; made += 1) await paid(service, who);
    return warmed(who, get('/payments', { headers: { ...who.headers, accept: 'text/csv' } }));
  },
  summary: async (service) => summary(await person(service), '/payments/summary', service),
  'summary of an organization': async (service) => {
    const who = await person(service);
    const organization_id = await storeOrganization(service, who);
    await paid(service, who, { organization_id });
    await service.advance(UNCACHED);
    return warmed(who, get(`/payments/summary?organization_id=${organization_id}`, who));
  },
  'summary of all payments': async (service) =>
    summary(await person(service, { is_admin: true }), '/admin/summary', service),
  'config of browsers': async (service) => warmed(await person(service), { method: 'GET', path: '/config' }),
  'user of the session': async (service) => {
    const who = await person(service);
    return warmed(who, get('/me', who));
  },
  'page of the console': async (service) => warmed(await person(service), { method: 'GET', path: '/console' }),
  'file of the console': async (service) => warmed(await person(service), { method: 'GET', path: CONSOLE_SCRIPT }),
  'hosted page': async (service) => warmed(await person(service), { method: 'GET', path: '/pay' }),
  'file of the hosted page': async (service) => warmed(await person(service), { method: 'GET', path: PAY_PAGE_SCRIPT }),
  'list by a guest e-mail': async (service) => {
    const { email } = await newGuest(service);
    return { ask: get(`/payments/guest/${email}`, { headers: {} }), status: 200 };
  },
  'update intent': change({ total_cents: 9_900 }),
  'update intent for an organization': async (service) => {
    const who = await person(service);
    const payment = await intent(service, who, { organization_id: await storeOrganization(service, who) });
    const ask: Ask = { ...post(`/payments/intents/${payment.id}`, who, { total_cents: 9_900 }), method: 'PUT' };
    return warmed(who, ask);
  },
  'update intent, here only': change({ metadata: { order_id: '1043' } }),
  cancel,
  'cancel with an Idempotency-Key': async (service) => {
    const prepared = await cancel(service);
    return { ...prepared, ask: withKey(prepared.ask, 'bench-5') };
  },
  'inbound event, until the answer': inbound('evt_3MtwBwLkdIwHu7ix0kBench1', async () => undefined),
  'the same event again': inbound('evt_3MtwBwLkdIwHu7ix0kBench2', (service, ask) => service.must(ask)),
};

/**
 * Payments whose due work one day later is measured. This work removes a paid payment's client secret and expires an
 * unpaid payment.
 */
export const LATER: Readonly<Record<string, (service: Service) => Promise<Json>>> = {
  'a paid payment, a day on': async (service) => paid(service, await person(service)),
  'an unconfirmed payment, a day on': async (service) => intent(service, await person(service)),
};

/** Payments whose stored size is reported. */
export const SIZES: Readonly<Record<string, (service: Service) => Promise<Json>>> = {
  'nothing but an amount, created': async (service) =>
    service.must(post('/payments/intents', await person(service), { total_cents: 2_500, currency: 'USD' })),
  'typical, created': async (service) => intent(service, await person(service)),
  'typical, paid': async (service) => paid(service, await person(service)),
  'typical, of a project, paid': async (service) => {
    const who = await person(service);
    return paid(service, who, { project_id: await projectOf(service, who) });
  },
  'typical, of an organization, paid': async (service) => {
    const who = await person(service);
    return paid(service, who, { organization_id: await storeOrganization(service, who) });
  },
  'typical, with a saved method, paid': async (service) => {
    const who = await person(service);
    return paid(service, who, { payment_method_id: await savedMethod(service, who) });
  },
  'typical, with a saved method in a project, paid': async (service) => {
    const who = await person(service);
    const method = await savedMethod(service, who);
    return paid(service, who, { payment_method_id: method, project_id: await projectOf(service, who) });
  },
  'typical, of a guest, paid': async (service) => {
    const who = await newGuest(service);
    await service.must(post(`/payments/confirm/${who.payment.id}`, who));
    return who.payment;
  },
};
