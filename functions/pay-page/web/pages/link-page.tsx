/**
 * @module The page of a payment link. The payer enters contact data, quantity and provider, and the start creates the
 * payment.
 */

import type { TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { isGone, isTooMany, isUnknown, Refusal, type Started, startPayment } from '../api/calls.ts';
import type { LinkState, ProviderOption } from '../api/state.ts';
import { forgetStart, keyOfStart } from '../api/token.ts';
import { Alert, Button, Field, useBusy } from '../view/parts.tsx';
import { money, say } from '../words/words.ts';

interface LinkPageProps {
  readonly token: string;
  readonly state: LinkState;
  readonly onStarted: (started: Started) => void;
  readonly onGone: () => void;
  readonly onSpent: () => void;
}

type Problems = Readonly<Record<string, string>>;

interface Entry {
  readonly email: string;
  readonly name: string;
  readonly quantity: string;
  readonly code: string;
  readonly provider: string;
}

const problemsOf = ({ email, name, quantity }: Entry, { min, max }: { readonly min: number; readonly max: number }) => {
  const count = Number(quantity);
  const isCount = /^\d{1,9}$/.test(quantity) && count >= min && count <= max;
  return {
    ...(!/^\S+@\S+\.\S+$/.test(email) && { email: say('badEmail') }),
    ...(name === '' && { name: say('badName') }),
    ...(!isCount && { quantity: say('badQuantity', { min: String(min), max: String(max) }) }),
  };
};

const FIELDS: Readonly<Record<string, readonly [field: string, text: 'badEmail' | 'badName' | 'badCode']>> = {
  email: ['email', 'badEmail'],
  name: ['name', 'badName'],
  discount_code: ['code', 'badCode'],
};

/** The service's problems by form field; undefined if none belongs to the form. */
const refusedFields = (reason: unknown): Problems | undefined => {
  if (!(reason instanceof Refusal)) return undefined;
  if (reason.code === 'DISCOUNT_INVALID') return { code: say('badCode') };
  const named = Array.isArray(reason.details) ? reason.details : [];
  const found = named.flatMap(({ path }: { readonly path?: string }) => {
    const [field, text] = FIELDS[String(path)] ?? [];
    return field && text ? [[field, say(text)] as const] : [];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
};

const bodyOf = ({ email, name, quantity, provider, code }: Entry, state: LinkState) => ({
  email,
  name,
  ...(state.quantity && { quantity: Number(quantity) }),
  ...(provider !== '' && { provider_id: provider }),
  ...(code !== '' && { discount_code: code }),
});

const isSpent = (reason: unknown): boolean => reason instanceof Refusal && reason.code === 'LINK_SPENT';

const textOfRefusal = (reason: unknown): string => {
  if (isTooMany(reason)) return say('tooMany');
  return say(isUnknown(reason) ? 'unreachable' : 'refused');
};

const useStart = ({ token, state, onStarted, onGone, onSpent }: LinkPageProps) => {
  const [problems, setProblems] = useState<Problems>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, run] = useBusy();
  const refused = (reason: unknown): void => {
    // A start with an unknown outcome is retried with the same key, so the key is dropped only after a known outcome.
    if (isSpent(reason) || !isUnknown(reason)) forgetStart();
    if (isSpent(reason)) onSpent();
    else if (isGone(reason)) onGone();
    else {
      const fields = refusedFields(reason);
      setProblems(fields ?? {});
      if (!fields) setProblem(textOfRefusal(reason));
    }
  };
  const start = async (entry: Entry): Promise<void> => {
    const body = bodyOf(entry, state);
    try {
      const started = await startPayment(token, body, keyOfStart(JSON.stringify(body)));
      forgetStart();
      onStarted(started);
    } catch (reason) {
      refused(reason);
    }
  };
  /** @returns the first field with a problem */
  const check = (entry: Entry): string | undefined => {
    const wrong: Problems = problemsOf(entry, boundsOf(state));
    setProblems(wrong);
    setProblem(undefined);
    return Object.keys(wrong)[0];
  };
  return { problems, problem, isBusy, check, start: (entry: Entry) => run(() => start(entry)) };
};

const boundsOf = ({ quantity }: LinkState) => quantity ?? { min: 1, max: 1 };

export const LinkPage = (props: LinkPageProps) => {
  const { state } = props;
  const { problems, problem, isBusy, check, start } = useStart(props);
  const bounds = boundsOf(state);
  const [quantity, setQuantity] = useState(String(bounds.min));
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const entry = entryOf(new FormData(form));
    const wrong = check(entry);
    if (wrong === undefined) start(entry);
    else form.querySelector<HTMLElement>(`[name=${wrong}]`)?.focus();
  };
  return (
    <form class="form" noValidate onSubmit={submit}>
      {problem ? <Alert>{problem}</Alert> : null}
      <Text name="email" label={say('email')} problem={problems['email']} inputMode="email" autoComplete="email" />
      <Text name="name" label={say('name')} problem={problems['name']} autoComplete="name" />
      {state.quantity && bounds.max > bounds.min ? (
        <Text
          name="quantity"
          label={say('quantity')}
          problem={problems['quantity']}
          inputMode="numeric"
          value={quantity}
          onInput={(event) => setQuantity(event.currentTarget.value)}
        />
      ) : (
        <input type="hidden" name="quantity" value={bounds.min} />
      )}
      <Providers providers={state.providers ?? []} />
      <Text name="code" label={say('code')} hint={say('optional')} problem={problems['code']} autoComplete="off" />
      <Total state={state} quantity={Number(quantity)} />
      <Button isBusy={isBusy} whileBusy={say('wait')}>
        {say('continue')}
      </Button>
    </form>
  );
};

const entryOf = (data: FormData): Entry => {
  const textOf = (name: string): string => String(data.get(name) ?? '').trim();
  return {
    email: textOf('email'),
    name: textOf('name'),
    quantity: textOf('quantity'),
    code: textOf('code'),
    provider: textOf('provider'),
  };
};

interface TextProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly problem: string | undefined;
  readonly autoComplete?: string;
  readonly inputMode?: 'numeric' | 'email';
  readonly value?: string;
  readonly onInput?: (event: TargetedEvent<HTMLInputElement>) => void;
}

const Text = ({ label, hint, problem, ...input }: TextProps) => (
  <Field id={input.name} label={label} hint={hint} problem={problem}>
    {({ id, described }) => (
      <input
        id={id}
        {...input}
        aria-invalid={problem !== undefined}
        {...(described && { 'aria-describedby': described })}
      />
    )}
  </Field>
);

const NAMES = { stripe: 'card', square: 'card', paypal: 'PayPal', braintree: 'card' } as const;

/** The provider's name for payers. If several providers take cards, each name includes the vendor's name. */
const nameOf = ({ provider }: ProviderOption, all: readonly ProviderOption[]): string => {
  const name = NAMES[provider];
  if (name !== 'card') return name;
  const isOnly = all.filter((other) => NAMES[other.provider] === 'card').length === 1;
  return isOnly ? say('card') : `${say('card')} (${provider[0]?.toUpperCase()}${provider.slice(1)})`;
};

const Providers = ({ providers }: { readonly providers: readonly ProviderOption[] }) => {
  const [only] = providers;
  if (providers.length < 2) return only ? <input type="hidden" name="provider" value={only.provider_id} /> : null;
  return (
    <fieldset class="choice">
      <legend>{say('method')}</legend>
      {providers.map((option, index) => (
        <label key={option.provider_id}>
          <input type="radio" name="provider" value={option.provider_id} defaultChecked={index === 0} />
          {nameOf(option, providers)}
        </label>
      ))}
    </fieldset>
  );
};

const Total = ({ state, quantity }: { readonly state: LinkState; readonly quantity: number }) => {
  const { amount_cents: cents, currency } = state;
  const isMany = Number.isInteger(quantity) && quantity > 1 && quantity <= boundsOf(state).max;
  if (!isMany || typeof cents !== 'number' || !currency) return null;
  return (
    <p class="total">
      <span>
        {quantity} × {money(cents, currency)}
      </span>
      <span>{money(cents * quantity, currency)}</span>
    </p>
  );
};
