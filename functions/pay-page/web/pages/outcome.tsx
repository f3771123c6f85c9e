/** @module The pages after the payer's last step. */

import { useEffect } from 'preact/hooks';
import { isPaid, type PageState } from '../api/state.ts';
import { sellerOf } from '../view/frame.tsx';
import { Button, News } from '../view/parts.tsx';
import { say } from '../words/words.ts';

const RETURN_AFTER_MS = 3_000;

/** The seller's return URL, with payment and status in the query. */
const returnAddress = ({ return_url: url, status }: PageState, paymentId: string | undefined): string | undefined => {
  if (!url) return undefined;
  const address = new URL(url);
  if (paymentId !== undefined) address.searchParams.set('payment_id', paymentId);
  address.searchParams.set('status', status);
  return address.href;
};

interface ReturnProps {
  readonly state: PageState;
  /** Undefined on the page of a subscription. */
  readonly paymentId?: string;
  /** True if the payer has just paid. The page then redirects automatically. */
  readonly isAutomatic: boolean;
}

export const Return = ({ state, paymentId, isAutomatic }: ReturnProps) => {
  const address = returnAddress(state, paymentId);
  useEffect(() => {
    if (address === undefined || !isAutomatic) return undefined;
    const timer = setTimeout(() => location.assign(address), RETURN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [address, isAutomatic]);
  if (address === undefined) return null;
  const seller = sellerOf(state);
  return (
    <a class="button" href={address}>
      {seller === '' ? say('returnToSeller') : say('returnTo', { seller })}
    </a>
  );
};

export const PaidPage = (props: ReturnProps) => {
  const isHeld = isPaid(props.state.status) && props.state.status !== 'succeeded';
  return (
    <News icon="good" title={say(isHeld ? 'authorized' : 'paid')}>
      <p>{say(isHeld ? 'authorizedText' : 'paidText')}</p>
      <Return {...props} />
    </News>
  );
};

export const ProcessingPage = (props: Omit<ReturnProps, 'isAutomatic'>) => (
  <News icon="wait" title={say('processing')}>
    <p>{say('processingText')}</p>
    <Return {...props} isAutomatic={false} />
  </News>
);

export const ConfirmingPage = () => (
  <News icon="wait" title={say('confirming')}>
    <p>{say('confirmingText')}</p>
  </News>
);

export type End = 'gone' | 'spent' | 'received' | 'unreachable';

interface EndPageProps {
  readonly end: End;
  /** True on a page without a record. */
  readonly isAlone: boolean;
}

export const EndPage = ({ end, isAlone }: EndPageProps) => {
  switch (end) {
    case 'gone':
      return (
        <News icon="gone" title={say('gone')} isAlone={isAlone}>
          <p>{say('goneText')}</p>
        </News>
      );
    case 'spent':
      return (
        <News icon="gone" title={say('spent')} isAlone={isAlone}>
          <p>{say('spentText')}</p>
        </News>
      );
    case 'received':
      return <News icon="good" title={say('received')} isAlone={isAlone} />;
    case 'unreachable':
      return (
        <News icon="gone" title={say('unreachable')} isAlone={isAlone}>
          <Button onClick={() => location.reload()}>{say('retry')}</Button>
        </News>
      );
  }
};
