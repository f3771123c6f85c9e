/** @module Changes of customers and payment methods on the providers' dashboards and by the card networks. */
import type { HistoryJson } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { maybe, type Scene, type WorldOperation } from './operation.ts';

/** Providers that send an event after a change of a customer or card. PayPal sends no such event. */
const TELLING = ['provider_a', 'provider_c'];

const atProvider = (scene: Scene, kind: 'customer' | 'method'): Known | undefined => {
  const found = scene.knowledge.all(kind).filter(({ fields }) => TELLING.includes(fields['provider_id']));
  return found.length === 0 ? undefined : scene.prng.pick(found.slice(-scene.latest));
};

const NAMES = ['Ada Byron', 'Grace Hopper', 'Cher'] as const;
const PHONES = ['+15550100123', '+15550100456'] as const;
const EMAILS = ['new@example.com', 'Other@Example.com'] as const;

/** A new value for a detail. Undefined keeps the value; null clears the value. */
const drawDetail = ({ prng }: Scene, values: readonly string[]): string | null | undefined =>
  prng.chance(0.5) ? undefined : prng.pick([...values, null]);

const changeCustomer: WorldOperation = {
  name: 'change a customer at the provider',
  weight: 4,
  plan: (scene) => {
    const customer = atProvider(scene, 'customer');
    const details = {
      ...maybe('name', drawDetail(scene, NAMES)),
      ...maybe('phone', drawDetail(scene, PHONES)),
      ...maybe('email', drawDetail(scene, EMAILS)),
    };
    return (
      customer && {
        kind: 'act',
        path: `/simulator/customers/${customer.fields['provider_customer_id']}`,
        body: details,
      }
    );
  },
};

const renewCard: WorldOperation = {
  name: 'renew a card at the network',
  weight: 4,
  plan: (scene) => {
    const { prng } = scene;
    const method = atProvider(scene, 'method');
    const card: HistoryJson = {
      ...maybe('last_four', prng.chance(0.6) ? String(prng.int(1_000, 9_999)) : undefined),
      ...maybe('exp_month', prng.chance(0.5) ? prng.int(1, 12) : undefined),
      exp_year: prng.int(2_030, 2_050),
    };
    return (
      method && {
        kind: 'act',
        path: `/simulator/payment-methods/${method.fields['provider_payment_method_id']}`,
        body: card,
      }
    );
  },
};

export const DASHBOARD_ACTS: readonly WorldOperation[] = [changeCustomer, renewCard];
