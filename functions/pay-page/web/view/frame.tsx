import type { ComponentChildren } from 'preact';
import { site } from '../api/site.ts';
import type { PageState } from '../api/state.ts';
import { money, numberOf, perInterval, say } from '../words/words.ts';

export const sellerOf = (state: PageState | undefined): string => state?.seller?.name || site.sellerName;

interface FrameProps {
  /** Undefined on pages without a record. */
  readonly state?: PageState | undefined;
  readonly children: ComponentChildren;
}

/**
 * The page with amount and seller first, then the payer's step. It has one column on a phone and two on a wide screen.
 */
export const Frame = ({ state, children }: FrameProps) => (
  <>
    {state?.test ? <aside class="test">{say('test')}</aside> : null}
    <div class={state ? 'columns' : 'columns alone'}>
      <header class="summary">
        <Seller name={sellerOf(state)} />
        {state ? <Summary state={state} /> : null}
      </header>
      <main class="panel">{children}</main>
      <Footer seller={state?.seller} />
    </div>
  </>
);

const Seller = ({ name }: { readonly name: string }) =>
  name === '' ? null : (
    <p class="seller">
      <span class="monogram" aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
      {name}
    </p>
  );

const quantityOf = (state: PageState): number => (typeof state.quantity === 'number' ? state.quantity : 1);

const titleOf = (state: PageState): string =>
  state.product?.name || state.description || (state.kind === 'subscription' ? say('subscription') : say('total'));

const Summary = ({ state }: { readonly state: PageState }) => {
  const title = titleOf(state);
  const quantity = quantityOf(state);
  return (
    <>
      <h1>{title}</h1>
      <Price state={state} />
      {quantity > 1 ? (
        <p class="quiet">
          {quantity} × {title}
        </p>
      ) : null}
      {state.description && state.description !== title ? <p class="description">{state.description}</p> : null}
    </>
  );
};

const Price = ({ state }: { readonly state: PageState }) => {
  const { amount_cents: cents, currency } = state;
  if (typeof cents !== 'number' || !currency) return null;
  if (state.kind === 'subscription' && state.interval) {
    return <p class="amount amount-long">{perInterval(money(cents, currency), state.interval)}</p>;
  }
  return (
    <p class="amount">
      {numberOf(cents, currency)} <span class="currency">{currency}</span>
    </p>
  );
};

const Footer = ({ seller }: { readonly seller: PageState['seller'] }) => {
  const links = [
    [say('terms'), seller?.terms_url],
    [say('privacy'), seller?.privacy_url],
  ] as const;
  return (
    <footer>
      {links.map(([name, url]) =>
        url ? (
          <a key={name} href={url} target="_blank" rel="noopener noreferrer">
            {name}
          </a>
        ) : null,
      )}
    </footer>
  );
};
