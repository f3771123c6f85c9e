/** @module Scenarios of webhook logs, test events and resent events. */
import {
  type BenchUser,
  type Fields,
  get,
  intent,
  person,
  post,
  type Scenario,
  storeOrganization,
  UNCACHED,
  warmed,
} from './people.ts';
import type { Ask, Json, Service } from './service.ts';
import type { WebhookRow } from './webhook-budgets.ts';

const PAYMENTS_PUBLISHED = 4;

const logsOf = (who: Pick<BenchUser, 'headers'>, query = ''): Ask =>
  get(`/webhooks/logs?limit=3&event_type=payment.created${query}`, who);

/** A user's payments, delivered to the only target, and the log entries of these deliveries. */
const delivered = async (service: Service, who: BenchUser, fields: Fields = {}): Promise<Json[]> => {
  for (let made = 0; made < PAYMENTS_PUBLISHED; made += 1) await intent(service, who, fields);
  await service.settle();
  return service.must(logsOf(who));
};

const logs =
  (query = ''): Scenario =>
  async (service) => {
    const who = await person(service);
    await delivered(service, who);
    return warmed(who, logsOf(who, query));
  };

/** An organization, and its owner with a session of that organization. The owner's membership is not cached. */
const organizationWithLogs = async (service: Service): Promise<{ boss: BenchUser; entry: Json }> => {
  const owner = await person(service);
  const organization_id = await storeOrganization(service, owner);
  const boss = await person(service, { user_id: owner.userId, organization_id });
  const [entry] = await delivered(service, boss);
  await service.advance(UNCACHED);
  return { boss, entry };
};

export const WEBHOOK_SCENARIOS: Readonly<Record<WebhookRow, Scenario>> = {
  'webhook logs': logs(),
  'webhook logs by status': logs('&status=success'),
  'webhook logs of an organization': async (service) => {
    const { boss } = await organizationWithLogs(service);
    return { ask: logsOf(boss), status: 200, warm: get('/customers?organization_id=&limit=1', boss) };
  },
  'webhook logs, all there are': async (service) => {
    await delivered(service, await person(service));
    const admin = await person(service, { is_admin: true });
    return warmed(admin, logsOf(admin));
  },
  'one webhook log': async (service) => {
    const who = await person(service);
    const [entry] = await delivered(service, who);
    return warmed(who, get(`/webhooks/logs/${entry.id}`, who));
  },
  'webhook test': async (service) => {
    const admin = await person(service, { is_admin: true });
    return warmed(admin, post('/webhooks/test', admin, { event: 'payment.succeeded' }));
  },
  'webhook test by an owner': async (service) => {
    const { boss } = await organizationWithLogs(service);
    const ask = post('/webhooks/test', boss, { event: 'payment.succeeded' });
    return { ask, status: 200, warm: get('/customers?organization_id=&limit=1', boss) };
  },
  'webhook sent again': async (service) => {
    const [entry] = await delivered(service, await person(service));
    const admin = await person(service, { is_admin: true });
    return warmed(admin, post(`/webhooks/logs/${entry.id}/replay`, admin));
  },
  'webhook sent again by an owner': async (service) => {
    const { boss, entry } = await organizationWithLogs(service);
    const ask = post(`/webhooks/logs/${entry.id}/replay`, boss);
    return { ask, status: 200, warm: get('/customers?organization_id=&limit=1', boss) };
  },
};
