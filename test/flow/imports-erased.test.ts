import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { findPlanted, platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf, signIn } from './flow.ts';
import { foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';

/** The erasure of a payer whose records were imported. */
const service = withHost({ frozen: true });

describe('the erasure of an imported payer', () => {
  test.each(['user', 'guest'])('removes a %s completely, including logs from before the import', async (kind) => {
    const [who, admin] = [await importer(service), await platformAdmin(service)];
    const email = `planted.${kind}@mail.example.com`;
    const user = await signIn(service, { email: `session.${kind}@mail.example.com`, expires_in: YEAR_SECONDS });
    const name = `Planted ${kind} Person`;
    const { customers, subscriptions } = await foreign(service, {
      customers: [
        {
          email,
          name,
          phone: '+34 600 555 01',
          payment_methods: [{ token: 'pm_card_visa' }],
          default_payment_method: 0,
        },
      ],
      subscriptions: [{ customer: 0, items: [{ unit_amount: 1_000 }] }],
    });
    const customer = present(customers[0]).id;
    await service.control('POST', `/simulator/customers/${customer}`, { phone: '+34 600 555 02' });
    await service.settle();
    const start = {
      ...{
        reference: `${name} contract`,
        payment_method: present(customers[0]).payment_methods[0],
        source_ended: true,
      },
      ...{ total_cents: 500, subtotal_cents: 500, currency: 'USD', billing_interval: 'monthly' },
      paid_until: new Date(service.now() + 10 * 86_400_000).toISOString(),
    };
    const owner = kind === 'user' ? `user:${user.userId}` : `guest:${email}`;
    const made = await tryImport(service, who, [{ provider_customer_id: customer, owner, start }]);
    expect(importedOutcomes(made)[0]).toEqual([
      'customer adopted',
      'payment_method adopted',
      'subscription adopted',
      'subscription adopted',
    ]);
    await service.settle();
    expect(await findPlanted(service, [email, name])).not.toEqual([]);
    const { id } = await requestErasure(service, admin.options, kind === 'user' ? { user_id: user.userId } : { email });
    await untilErased(service, admin.options, { id });
    expect(await findPlanted(service, [email, name, '+34 600 555 01', '+34 600 555 02'])).toEqual([]);
    expect(
      (await itemsOf(service, 'CUS#')).filter(({ providerCustomerId }) => providerCustomerId === customer),
    ).toEqual([]);
    expect(await atStripe(service, `GET customers/${customer}`)).toMatchObject({ deleted: true });
    expect(await atStripe(service, `GET subscriptions/${present(subscriptions[0]).id}`)).toMatchObject({
      status: 'canceled',
    });
  });
});
