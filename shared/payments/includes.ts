import type { Caller } from '../access/caller.ts';
import { type Product, productRecord, projectRecord, projectView } from '../catalog/reference-records.ts';
import { productView } from '../catalog/view.ts';
import { organizationRecord, organizationView } from '../organizations/organization.ts';
import { includedMethodView, paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { subscriptionRecord } from '../subscriptions/subscription.ts';
import { subscriptionView } from '../subscriptions/view.ts';
import type { Key } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { ReadDeps } from './deps.ts';
import { orderView } from './order.ts';
import type { VisiblePayment } from './payment.ts';
import type { Include } from './queries.ts';

/** The records beside a payment that were asked for, in one BatchGet; null where there is none. */
interface Source {
  readonly key: (payment: VisiblePayment) => Key | undefined;
  readonly view: (item: Item, caller: Caller) => unknown;
}

const under = (id: string | undefined, key: (id: string) => Key): Key | undefined =>
  id === undefined ? undefined : key(id);

const view = <T>(record: T | undefined, show: (record: T) => unknown): unknown =>
  record === undefined ? null : show(record);

const SOURCES: Readonly<Partial<Record<Include, Source>>> = {
  payment_method: {
    key: ({ paymentMethodId }) => under(paymentMethodId, paymentMethodRecord.key),
    view: (item) => view(paymentMethodRecord.parse(item), includedMethodView),
  },
  project: {
    key: ({ projectId }) => under(projectId, projectRecord.key),
    view: (item) => view(projectRecord.parse(item), projectView),
  },
  organization: {
    key: ({ organizationId }) => under(organizationId, organizationRecord.key),
    view: (item) => view(organizationRecord.parse(item), organizationView),
  },
  subscription: {
    key: ({ subscriptionId }) => under(subscriptionId, subscriptionRecord.key),
    view: (item) => view(subscriptionRecord.parse(item), subscriptionView),
  },
  product: {
    key: ({ productId }) => under(productId, productRecord.key),
    view: (item) => view<Product>(productRecord.parse(item), productView),
  },
};

export const includedRecords = async (
  deps: ReadDeps,
  caller: Caller,
  payment: VisiblePayment,
  includes: readonly Include[],
): Promise<Partial<Record<Include, unknown>>> => {
  const wanted = includes.flatMap((name) => {
    const key = SOURCES[name]?.key(payment);
    return key ? [{ name, key }] : [];
  });
  const items = wanted.length === 0 ? [] : await deps.table.getMany(wanted.map(({ key }) => key));
  const found = Object.fromEntries(
    wanted.map(({ name }, index) => {
      const item = items[index];
      return [name, item ? (SOURCES[name]?.view(item, caller) ?? null) : null];
    }),
  );
  const absent = Object.fromEntries(includes.map((name) => [name, null]));
  return { ...absent, ...found, ...(includes.includes('order') && { order: orderView(payment) }) };
};
