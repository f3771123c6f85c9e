import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';

/** Imports of the same customer at the same time. */
const service = withHost({ frozen: true, env: PATIENT });

const PARALLEL = 50;

describe('50 parallel imports of one customer', () => {
  test('store each record once', async () => {
    const who = await importer(service);
    const { customers } = await foreign(service, {
      customers: [{ payment_methods: [{ token: 'pm_card_visa' }, { bank_account: true }], default_payment_method: 0 }],
      subscriptions: [{ customer: 0, items: [{ unit_amount: 1_000 }] }],
    });
    const row = { provider_customer_id: present(customers[0]).id, owner: 'guest:gus@example.com' };
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => tryImport(service, who, [row])));
    await service.settle();
    const outcomes = answers.map((answer) => importedOutcomes(answer)[0] ?? []);
    for (const at of [0, 1, 2, 3]) {
      const adopted = outcomes.filter((records) => records[at]?.endsWith(' adopted'));
      expect(adopted).toHaveLength(1);
    }
    for (const text of outcomes.flat()) expect(text).toMatch(/ (adopted|known)$/);
    const ids = new Set(
      answers.flatMap(({ body }) => body.data.rows[0].records.map((record: { id: string }) => record.id)),
    );
    expect(ids.size).toBe(4);
    const stored = (await itemsOf(service)).filter(({ sk }) => ['CUS', 'PM', 'SUB'].includes(sk));
    expect(new Set(stored.map(({ id }) => id))).toEqual(ids);
  }, 120_000);
});
