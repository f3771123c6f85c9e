import type { Customer } from '../api/types.ts';
import { Tile } from '../overview/tile.tsx';
import { count } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Loading, Money, ProblemNote } from '../view/parts.tsx';
import { type LifetimeSums, readLifetime } from './lifetime-sums.ts';

/** A customer's lifetime revenue, for the merchant. */
export const Lifetime = ({ customer }: { readonly customer: Customer }) => {
  const { data, problem, isLoading, reload } = useLoaded(`lifetime ${customer.id}`, () => readLifetime(customer));
  return (
    <section class="part" aria-label="Lifetime">
      <h2>Lifetime</h2>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what="the lifetime sums" lines={2} />}
      {data && <LifetimeView sums={data} />}
    </section>
  );
};

const LifetimeView = ({
  sums: { paid, refunded, lost, net, payments, isPartial },
}: {
  readonly sums: LifetimeSums;
}) => (
  <>
    <dl class="tiles">
      <Tile name="Lifetime net" note="after fees, refunds and lost disputes">
        <Amounts of={net} />
      </Tile>
      <Tile name="Paid" note={`${count(payments)} ${payments === 1 ? 'payment' : 'payments'}`}>
        <Amounts of={paid} />
      </Tile>
      <Tile name="Refunded" note="refunds that succeeded">
        <Amounts of={refunded} />
      </Tile>
      {lost.size > 0 && (
        <Tile name="Lost" note="lost disputes">
          <Amounts of={lost} />
        </Tile>
      )}
    </dl>
    {isPartial && <p class="quiet">Sums of the newest {count(payments)} payments that succeeded. There are more.</p>}
  </>
);

/** One line per currency. */
const Amounts = ({ of: sums }: { readonly of: ReadonlyMap<string, number> }) =>
  sums.size === 0 ? (
    <>–</>
  ) : (
    [...sums].map(([currency, cents]) => (
      <span key={currency} class="own-line">
        <Money cents={cents} currency={currency} />
      </span>
    ))
  );
