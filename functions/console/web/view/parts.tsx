/** @module Small parts that every page uses. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { exactTimeInUtc, inWords, money, timeInUtc } from './format.ts';

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
  past_due: 'bad',
  needs_response: 'bad',
  processing: 'wait',
  pending: 'wait',
  requires_payment_method: 'wait',
  trialing: 'wait',
  under_review: 'wait',
  paused: 'wait',
};

/** A status as a word with a color. */
export const Status = ({ of: status }: { readonly of: string }) => (
  <span class={`status status-${TONES[status] ?? 'plain'}`}>{inWords(status)}</span>
);

export const Money = ({ cents, currency }: { readonly cents: number; readonly currency: string }) => (
  <span class="money">{money(cents, currency)}</span>
);

export const Time = ({ at, exact = false }: { readonly at: string; readonly exact?: boolean }) => (
  <time dateTime={at} title={exactTimeInUtc(at)}>
    {exact ? exactTimeInUtc(at) : timeInUtc(at)}
  </time>
);

/** An id, which can be selected as a whole and copied. */
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

export const Loading = ({ what }: { readonly what: string }) => (
  <p class="loading" role="status">
    Loading {what}…
  </p>
);

interface PageHeadProps {
  readonly title: ComponentChildren;
  /** The title of the browser tab. */
  readonly tab: string;
  readonly children?: ComponentChildren;
}

/** The heading of a page, with its actions. */
export const PageHead = ({ title, tab, children }: PageHeadProps) => {
  document.title = `${tab} · Payments console`;
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {children && <div class="actions">{children}</div>}
    </div>
  );
};

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

/** A row of a `dl`. */
export const Fact = ({ name, children }: FactProps) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** JSON, as the service stored it. */
export const Json = ({ value, name }: { readonly value: unknown; readonly name: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, and keys scroll what has the focus
  <section class="json" tabIndex={0} aria-label={name}>
    <pre>{JSON.stringify(value, null, 2)}</pre>
  </section>
);
