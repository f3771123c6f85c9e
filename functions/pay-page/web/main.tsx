/** @module The start of the hosted page. The token decides whether it shows a payment, a subscription or a link. */

import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isGone, readState, type Started } from './api/calls.ts';
import { site } from './api/site.ts';
import type { PageState } from './api/state.ts';
import { arrive, keepToken } from './api/token.ts';
import { LinkPage } from './pages/link-page.tsx';
import { type End, EndPage } from './pages/outcome.tsx';
import { PaymentPage } from './pages/payment-page.tsx';
import { SubscriptionPage } from './pages/subscription-page.tsx';
import { setColor } from './view/colors.ts';
import { Frame, sellerOf } from './view/frame.tsx';
import { language, money, say } from './words/words.ts';
import './styles.css';

const arrival = arrive();

/**
 * Reloads the page for another link in the same tab. Such a link changes only the fragment, and the browser does not
 * reload the page for that.
 */
addEventListener('hashchange', () => location.reload());

const titleOf = (state: PageState): string => {
  const { amount_cents: cents, currency } = state;
  const amount = typeof cents === 'number' && currency ? money(cents, currency) : '';
  return [amount, sellerOf(state)].filter((part) => part !== '').join(' – ') || document.title;
};

/**
 * For an old payment, the service reads the client secret from the provider at most once a minute, and returns null in
 * between. The page keeps the secret to keep the card form open.
 */
const withSecret = (now: PageState, before: PageState | undefined): PageState => {
  const isSame = now.kind === 'payment' && before?.kind === 'payment' && now.payment_id === before.payment_id;
  return isSame && !now.client_secret ? { ...now, client_secret: before.client_secret } : now;
};

const useRecord = () => {
  const [token, setToken] = useState(arrival.token ?? '');
  const [state, setState] = useState<PageState>();
  const [end, setEnd] = useState<End | undefined>(
    arrival.token === undefined ? (arrival.isApproval ? 'received' : 'gone') : undefined,
  );
  const show = (now: PageState): void => {
    setColor(now.seller?.color ?? '');
    document.title = titleOf(now);
    setState((before) => withSecret(now, before));
  };
  useEffect(() => {
    if (token === '') return;
    readState(token)
      .then(show)
      .catch((reason: unknown) => setEnd(isGone(reason) ? 'gone' : 'unreachable'));
  }, []);
  const begin = ({ token: next, ...started }: Started): void => {
    keepToken(next);
    setToken(next);
    show(started as PageState);
  };
  return { token, state, end, setEnd, show, begin };
};

const App = () => {
  const { token, state, end, setEnd, show, begin } = useRecord();
  if (end) {
    return (
      <Frame>
        <EndPage end={end} isAlone={true} />
      </Frame>
    );
  }
  if (!state) {
    return (
      <Frame>
        <p class="loading">{say('loading')}</p>
      </Frame>
    );
  }
  const common = { token, show, onGone: () => setEnd('gone') };
  if (state.kind === 'link' && state.status === 'spent') {
    return (
      <Frame state={state}>
        <EndPage end="spent" isAlone={false} />
      </Frame>
    );
  }
  return (
    <Frame state={state}>
      {state.kind === 'payment' ? (
        <PaymentPage {...common} key={state.payment_id} state={state} leftAs={arrival.leftAs} />
      ) : state.kind === 'subscription' ? (
        <SubscriptionPage {...common} state={state} />
      ) : (
        <LinkPage {...common} state={state} onStarted={begin} onSpent={() => setEnd('spent')} />
      )}
    </Frame>
  );
};

document.documentElement.lang = language;
setColor(site.color);
const root = document.getElementById('app');
if (root) render(<App />, root);
