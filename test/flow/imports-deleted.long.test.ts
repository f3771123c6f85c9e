import { expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { newOrganization, newPerson } from './organization-steps.ts';
import { withStops } from './stops.ts';

/** An organization is deleted while an import stores records for it. */
const stoppable = withStops(PATIENT);

const KINDS: readonly string[] = ['CUS', 'PM', 'SUB'];

const ready = async () => {
  const { service } = stoppable();
  const owner = await newPerson(service);
  const organizationId = await newOrganization(service, owner);
  const who = await importer(service);
  const made = await foreign(service, {
    customers: [{ payment_methods: [{ token: 'pm_card_visa' }], default_payment_method: 0 }],
    subscriptions: [{ customer: 0, items: [{ unit_amount: 2_900 }] }],
  });
  await service.settle();
  const row = { provider_customer_id: made.customers[0]?.id, owner: `organization:${organizationId}` };
  return {
    organizationId,
    run: async () => importedOutcomes(await tryImport(service, who, [row])),
    remove: async () => {
      const { status } = await service.request('DELETE', `/organizations/${organizationId}`, owner.options);
      expect(status).toBeLessThan(300);
    },
  };
};

test('an import stores no record for an organization deleted before any of its calls', async () => {
  const { service, watch, overtaken } = stoppable();
  const first = await ready();
  const calls = await watch(async () => {
    expect(await first.run()).toEqual([['customer adopted', 'payment_method adopted', 'subscription adopted']]);
  });
  const writes = calls.flatMap((name, at) => (name === 'TransactWriteItems' ? [at + 1] : []));
  expect(writes.length).toBeGreaterThanOrEqual(3);
  for (let at = 1; at < Number(writes.at(-1)); at += 1) {
    const { organizationId, run, remove } = await ready();
    const stored = writes.filter((write) => write <= at).length;
    const [records = []] = await overtaken(at, remove, run);
    const where = `at ${at} of ${calls.join(', ')}`;
    const adopted = records.filter((record) => record.endsWith(' adopted'));
    expect({ where, isAllowed: adopted.length <= stored, adopted }).toMatchObject({ isAllowed: true });
    await service.advance(2 * DAY_SECONDS);
    await service.settle();
    const left = (await itemsOf(service)).filter(
      (item) => KINDS.includes(item.sk) && item.organizationId === organizationId,
    );
    expect({ where, left }).toEqual({ where, left: [] });
  }
}, 300_000);
