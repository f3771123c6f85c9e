/** @module Small components that every page uses. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { hourText, inWords, money, secondsText, timeText, zonedTimeText } from './format.ts';
import { withZone } from './zone.ts';

type Tone = 'good' | 'bad' | 'wait' | 'plain';

const TONES: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  success: 'good',
  active: 'good',
  applied: 'good',
  delivered: 'good',
  won: 'good',
  failed: 'bad',
  lost: 'bad',
  revoked: 'bad',
  past_due: 'bad',
  needs_response: 'bad',
  processing: 'wait',
  pending: 'wait',
  requires_payment_method: 'wait',
  requires_capture: 'wait',
  trialing: 'wait',
  under_review: 'wait',
  paused: 'wait',
};

/** A status as a word with a color. */
export const Status = ({ of: status }: { readonly of: string }) => (
  <span class={`status status-${TONES[status] ?? 'plain'}`}>{inWords(status)}</span>
);

/** One line of text, cut only if the column is too narrow. */
export const Cut = ({ title, children }: { readonly title?: string; readonly children: ComponentChildren }) => (
  <span class="cut" title={title}>
    <span>{children}</span>
  </span>
);

export const Money = ({ cents, currency }: { readonly cents: number; readonly currency: string }) => (
  <span class="money">{money(cents, currency)}</span>
);

interface TimeProps {
  readonly at: string;
  /** True if the time has seconds. */
  readonly exact?: boolean;
  /** True if the time is exact and shows its zone, because no title nearby does. */
  readonly zoned?: boolean;
}

/**
 * A time in the chosen zone. Without `zoned` the text omits the zone, because the page's bar, the column title or the
 * record's head shows the zone.
 */
export const Time = ({ at, exact = false, zoned = false }: TimeProps) => (
  <time dateTime={at} title={zonedTimeText(at)}>
    {zoned ? zonedTimeText(at) : (exact ? secondsText : timeText)(at)}
  </time>
);

/** A time with hourly precision, in the chosen zone. */
export const Hour = ({ at }: { readonly at: string }) => <time dateTime={at}>{hourText(at)}</time>;

/** An id that can be selected as a whole and copied. */
export const Id = ({ children }: { readonly children: string }) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
  };
  return (
    <span class="id">
      <code>{children}</code>
      <button
        type="button"
        class="copy"
        onClick={() => void copy()}
        onBlur={() => setCopied(false)}
        aria-label={`Copy ${children}`}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
};

interface ProblemNoteProps {
  readonly problem: Problem;
  readonly onRetry?: (() => void) | undefined;
}

/** The error in the words of the API, with the request id for support. */
export const ProblemNote = ({ problem, onRetry }: ProblemNoteProps) => (
  <div class="note note-bad" role="alert">
    <div>
      <strong>{problem.message}</strong>
      {problem.fields.map((field) => (
        <p key={field}>{field}</p>
      ))}
      {problem.requestId !== '' && (
        <p class="quiet">
          Request <code>{problem.requestId}</code>
          {problem.code !== '' && ` · ${problem.code}`}
        </p>
      )}
    </div>
    {onRetry && (
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    )}
  </div>
);

export const Done = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="note note-good" role="status">
    {children}
  </div>
);

const LOADING_LINES = 3;

interface LoadingProps {
  readonly what: string;
  /** The expected number of lines, to keep the layout stable. */
  readonly lines?: number;
}

/** A placeholder while data loads. */
export const Loading = ({ what, lines = LOADING_LINES }: LoadingProps) => (
  <div class="loading">
    <p class="unseen" role="status">
      Loading {what}…
    </p>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} class="skeleton" />
    ))}
  </div>
);

export const setTabTitle = (title: string): void => {
  document.title = `${title} · Payments console`;
};

interface PageHeadProps {
  readonly title: ComponentChildren;
  /** The title of the browser tab. */
  readonly tab: string;
  readonly children?: ComponentChildren;
}

/** The heading of a page, with its actions. It takes the focus when the user opens the page. */
export const PageHead = ({ title, tab, children }: PageHeadProps) => {
  setTabTitle(tab);
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      {children && <div class="actions">{children}</div>}
    </div>
  );
};

interface FactProps {
  readonly name: string;
  /** True if the value is a time and the name should show the zone. An exact time shows its zone itself. */
  readonly isTime?: boolean;
  readonly children: ComponentChildren;
}

/** A row of a `dl`. */
export const Fact = ({ name, isTime = false, children }: FactProps) => (
  <div class="fact">
    <dt>{isTime ? withZone(name) : name}</dt>
    <dd>{children}</dd>
  </div>
);

interface ChoiceProps {
  /** The label of the choices. */
  readonly of: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

/** A radio button for one of several choices. */
export const Choice = ({ of: name, isChosen, onChoose, children }: ChoiceProps) => (
  <label class="choice">
    <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
    <span>{children}</span>
  </label>
);

/** JSON as stored by the service. It is not a landmark, because a page can show the same payload twice. */
export const Json = ({ value, name }: { readonly value: unknown; readonly name: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, and keys scroll what has the focus
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form fields, and a section is a landmark
  <div class="json" role="group" tabIndex={0} aria-label={name}>
    <pre>{JSON.stringify(value, null, 2)}</pre>
  </div>
);
