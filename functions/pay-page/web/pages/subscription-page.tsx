/** @module The page of one subscription, with its card, its end and its open payment. */

import { useState } from 'preact/hooks';
import { isGone, isTooMany, isUnknown, postState, Refusal } from '../api/calls.ts';
import type { Method, PageState, SubscriptionState } from '../api/state.ts';
import type { Entered } from '../vendors/card-field.ts';
import { authenticateAtStripe } from '../vendors/stripe.ts';
import { CardForm, cardOption } from '../view/card-form.tsx';
import { type Decline, DeclineAlert } from '../view/decline.tsx';
import { Alert, Button, News, useBusy } from '../view/parts.tsx';
import { type Shown, useReading } from '../view/reading.ts';
import { dateText, money, say, sayName } from '../words/words.ts';
import { CancelForm } from './cancel-form.tsx';
import { Return } from './outcome.tsx';

interface SubscriptionPageProps extends Shown {
  readonly state: SubscriptionState;
}

type Opened = 'none' | 'card' | 'cancel';

const PAYMENT_REQUIRED = 402;
const FOLLOW_MS = 20_000;

/** The client secret for a pending authentication of a new card or of the open payment. */
const secretOf = (state: PageState): string | undefined => {
  if (state.kind !== 'subscription') return undefined;
  const { client_secret: ofSetup, open_payment: open } = state;
  return ofSetup ?? (open?.status === 'pending' ? open.client_secret : undefined) ?? undefined;
};

const useSubscription = ({ token, state, show, onGone }: SubscriptionPageProps) => {
  const [opened, setOpened] = useState<Opened>('none');
  const [decline, setDecline] = useState<Decline>();
  const [problem, setProblem] = useState<string>();
  const [isSaved, setSaved] = useState(false);
  const [isBusy, run] = useBusy();
  const { read, wait } = useReading({ token, show, onGone });
  const refused = async (reason: unknown): Promise<void> => {
    if (isGone(reason)) return onGone();
    await read();
    if (reason instanceof Refusal && reason.status === PAYMENT_REQUIRED) {
      return setDecline((reason.details ?? {}) as Decline);
    }
    setProblem(say(isTooMany(reason) ? 'tooMany' : isUnknown(reason) ? 'unreachable' : 'refused'));
  };
  /** @returns true if the service executed the command */
  const send = async (
    ...[path, body]: readonly [path: 'method' | 'cancel' | 'keep', body?: Body]
  ): Promise<boolean> => {
    try {
      show(await postState(token, path, body));
      setOpened('none');
      return true;
    } catch (reason) {
      await refused(reason);
      return false;
    }
  };
  const act = (command: () => Promise<void>): void =>
    run(async () => {
      setProblem(undefined);
      setDecline(undefined);
      setSaved(false);
      await command();
    });
  const save = async (entered: Entered): Promise<void> => {
    if (entered.end === 'token') {
      setSaved(await send('method', { provider_payment_method_token: entered.token }));
    } else if (entered.end === 'declined') setDecline({ message: entered.message });
    else setProblem(entered.end === 'invalid' ? entered.message : say('unreachable'));
  };
  const authenticate = async (secret: string): Promise<void> => {
    const card = cardOption(state.providers);
    if (!card) return;
    const entered = await authenticateAtStripe(card, secret);
    const now = await wait((next) => secretOf(next) !== secret);
    // Reads the state for a while, because the service sets the card shortly after the authentication.
    void wait(() => false, FOLLOW_MS);
    if (entered.end === 'done') setSaved(now !== undefined);
    else if (entered.end === 'declined') setDecline({ message: entered.message });
    else setProblem(say('unreachable'));
  };
  return { opened, setOpened, decline, problem, isSaved, isBusy, act, send, save, authenticate };
};

type Body = Parameters<typeof postState>[2];

export const SubscriptionPage = (props: SubscriptionPageProps) => {
  const { state } = props;
  const page = useSubscription(props);
  const { opened, setOpened, decline, problem, isSaved, isBusy, act } = page;
  const secret = secretOf(state);
  if (state.status === 'canceled') return <News icon="gone" title={say('ended')} />;
  return (
    <>
      <Standing state={state} />
      {decline ? <DeclineAlert decline={decline} text={say('notSaved')} /> : null}
      {problem ? <Alert>{problem}</Alert> : null}
      {secret ? (
        <div class="form">
          <p>{say('authenticateText')}</p>
          <Button isBusy={isBusy} whileBusy={say('wait')} onClick={() => act(() => page.authenticate(secret))}>
            {say('authenticateAction')}
          </Button>
        </div>
      ) : null}
      <section class="part">
        <h2>{say('paymentMethod')}</h2>
        {isSaved && !secret ? (
          <p class="good" role="status">
            {say('savedCard')}
          </p>
        ) : null}
        <MethodLine method={state.method} />
        {opened === 'card' ? <CardPart {...props} page={page} /> : null}
        {opened !== 'card' && cardOption(state.providers) ? (
          <Button kind={state.status === 'past_due' ? 'primary' : 'plain'} onClick={() => setOpened('card')}>
            {say('changeCard')}
          </Button>
        ) : null}
      </section>
      <section class="part">
        <EndPart {...props} page={page} />
      </section>
      <Return state={state} isAutomatic={false} />
    </>
  );
};

interface PartProps extends SubscriptionPageProps {
  readonly page: ReturnType<typeof useSubscription>;
}

const MethodLine = ({ method }: { readonly method: Method | null | undefined }) => {
  if (!method?.last_four) return <p class="quiet">{say('noMethod')}</p>;
  const brand = method.brand ?? say('card');
  return (
    <p class="method">
      <span class="brand">{brand.charAt(0).toUpperCase() + brand.slice(1).toLowerCase()}</span> •••• {method.last_four}
    </p>
  );
};

const CardPart = ({ state, page }: PartProps) => {
  const { isBusy, act, save } = page;
  const card = cardOption(state.providers);
  if (!card) return <Alert>{say('refused')}</Alert>;
  const { amount_cents: cents, currency } = state;
  return (
    <CardForm
      purpose={{ ...card, amountCents: cents ?? 0, currency: currency ?? '' }}
      label={say('saveCard')}
      whileBusy={say('saving')}
      isBusy={isBusy}
      onSubmit={(field) => act(async () => save(await field.save()))}
    />
  );
};

/** The next charge, the end or the amount due of the subscription. */
const Standing = ({ state }: { readonly state: SubscriptionState }) => {
  const { status, next_billing_date: next, cancel_at_period_end: ends, amount_cents: cents, currency } = state;
  const amount = money(cents ?? 0, currency ?? '');
  return (
    <div class="standing">
      <span class={`status status-${ends ? 'ending' : status}`}>{sayName(status)}</span>
      {status === 'past_due' ? <p>{say('owed', { amount })}</p> : null}
      {ends ? <p>{next ? say('endsOn', { date: dateText(next) }) : say('ending')}</p> : null}
      {!ends && status !== 'past_due' && next ? <p>{say('nextPayment', { date: dateText(next) })}</p> : null}
    </div>
  );
};

const EndPart = ({ state, page }: PartProps) => {
  const { opened, setOpened, isBusy, act, send } = page;
  if (state.cancel_at_period_end) {
    return (
      <Button isBusy={isBusy} whileBusy={say('wait')} onClick={() => act(async () => void (await send('keep')))}>
        {say('keepSubscription')}
      </Button>
    );
  }
  if (opened !== 'cancel') {
    return (
      <Button kind="plain" onClick={() => setOpened('cancel')}>
        {say('cancelSubscription')}
      </Button>
    );
  }
  return (
    <CancelForm
      endsAt={state.status === 'past_due' ? undefined : (state.next_billing_date ?? undefined)}
      isBusy={isBusy}
      onBack={() => setOpened('none')}
      onCancel={(body) => act(async () => void (await send('cancel', body)))}
    />
  );
};
