/** @module The fields of a plan: a product for payers, a price for staff. */

import { answerOf, api, nextCursor } from '../api/client.ts';
import type { Product, Subscription } from '../api/types.ts';
import { inWords } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Loading, ProblemNote } from '../view/parts.tsx';
import { INTERVALS, intervalNamed, type PlanDraft } from './plan-draft.ts';
import { planOf } from './subscription-parts.tsx';

type Draft<Kind extends PlanDraft['kind']> = Extract<PlanDraft, { kind: Kind }>;

interface FieldsProps<Kind extends PlanDraft['kind']> {
  readonly draft: Draft<Kind>;
  readonly subscription: Subscription;
  readonly onChange: (draft: PlanDraft) => void;
}

const MOST_PAGES = 5;

/** The recurring products in a currency. */
const readProducts = async (currency: string): Promise<readonly Product[]> => {
  const found: Product[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { data } = await answerOf(api.GET('/products', { params: { query: { limit: 100, cursor } } }));
    found.push(...data.data);
    cursor = nextCursor(data.meta);
    if (cursor === undefined) break;
  }
  return found.filter((product) => product.billing_interval !== null && product.currency === currency);
};

const MAX_QUANTITY = 10_000;

export const ProductFields = ({ draft, subscription, onChange }: FieldsProps<'product'>) => {
  const { currency, product_id: present } = subscription;
  const { data, problem, isLoading, reload } = useLoaded(`products ${currency}`, () => readProducts(currency));
  return (
    <>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what="the products" lines={1} />}
      {data && (
        <label class="field">
          <span>Product</span>
          <select
            required
            value={draft.productId}
            onChange={({ currentTarget }) => onChange({ ...draft, productId: currentTarget.value })}
          >
            <ProductOptions products={data} present={present} chosen={draft.productId} />
          </select>
        </label>
      )}
      <label class="field">
        <span>Quantity</span>
        <input
          type="number"
          required
          min={1}
          max={MAX_QUANTITY}
          value={draft.quantity}
          onInput={({ currentTarget }) => onChange({ ...draft, quantity: currentTarget.valueAsNumber })}
        />
      </label>
    </>
  );
};

interface ProductOptionsProps {
  readonly products: readonly Product[];
  readonly present: string | null;
  readonly chosen: string;
}

/**
 * The products to choose from. The current product is offered even if it is withdrawn, because the quantity alone can
 * change.
 */
const ProductOptions = ({ products, present, chosen }: ProductOptionsProps) => (
  <>
    {!products.some(({ id }) => id === present) && (
      <option value={present ?? ''} selected={chosen === (present ?? '')}>
        {present === null ? 'Choose a product' : `${present} (current plan, no longer sold)`}
      </option>
    )}
    {products.map((product) => (
      <option key={product.id} value={product.id} selected={product.id === chosen}>
        {product.name}, {priceOf(product)}
        {product.id === present && ' (current plan)'}
      </option>
    ))}
  </>
);

const priceOf = ({ billing_interval: interval, ...product }: Product): string =>
  planOf({ ...product, billing_interval: interval ?? 'monthly', quantity: 1 });

const MAX_MULTIPLIER = 100;

export const PriceFields = ({ draft, subscription, onChange }: FieldsProps<'price'>) => (
  <>
    <p class="quiet">
      Only the payer changes product and quantity.
      {subscription.discount && ' A custom price ends the discount code.'}
    </p>
    <label class="field">
      <span>Total per period, in {subscription.currency}</span>
      <input
        type="text"
        inputMode="decimal"
        required
        value={draft.total}
        onInput={({ currentTarget }) => onChange({ ...draft, total: currentTarget.value })}
      />
    </label>
    <label class="field">
      <span>Interval</span>
      <select
        value={draft.interval}
        onChange={({ currentTarget }) => {
          const interval = intervalNamed(currentTarget.value);
          if (interval) onChange({ ...draft, interval });
        }}
      >
        {INTERVALS.map((interval) => (
          <option key={interval} value={interval} selected={interval === draft.interval}>
            {inWords(interval)}
          </option>
        ))}
      </select>
    </label>
    <label class="field">
      <span>Intervals per period</span>
      <input
        type="number"
        required
        min={1}
        max={MAX_MULTIPLIER}
        value={draft.multiplier}
        onInput={({ currentTarget }) => onChange({ ...draft, multiplier: currentTarget.valueAsNumber })}
      />
    </label>
  </>
);
