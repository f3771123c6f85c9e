import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: 'primary' | 'plain' | 'danger';
  /** True while the command runs. The button keeps the focus and ignores clicks. */
  readonly isBusy?: boolean;
  /** The label while the command runs. */
  readonly whileBusy?: string | undefined;
  /** Undefined on a submit button. */
  readonly onClick?: (() => void) | undefined;
}

export const Button = ({ children, kind = 'primary', isBusy = false, whileBusy, onClick }: ButtonProps) => (
  <button
    type={onClick ? 'button' : 'submit'}
    class={kind}
    aria-disabled={isBusy}
    aria-busy={isBusy}
    onClick={(event) => {
      if (isBusy) event.preventDefault();
      else onClick?.();
    }}
  >
    {isBusy ? <span class="spinner" aria-hidden="true" /> : null}
    {isBusy ? (whileBusy ?? children) : children}
  </button>
);

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly children: (parts: { readonly id: string; readonly described: string | undefined }) => ComponentChildren;
  readonly id: string;
}

/** A labeled field of a form, with its problem below it. */
export const Field = ({ label, hint, problem, children, id }: FieldProps) => (
  <div class="field">
    <label for={id}>
      {label}
      {hint === undefined ? null : <span class="hint"> ({hint})</span>}
    </label>
    {children({ id, described: problem === undefined ? undefined : `${id}-problem` })}
    {problem === undefined ? null : (
      <p class="problem" id={`${id}-problem`}>
        {problem}
      </p>
    )}
  </div>
);

/** A refusal. Screen readers announce it immediately. */
export const Alert = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="alert" role="alert">
    {children}
  </div>
);

interface NewsProps {
  readonly icon: 'good' | 'wait' | 'gone';
  readonly title: string;
  /** True if it is the heading of a page without a record. */
  readonly isAlone?: boolean;
  readonly children?: ComponentChildren;
}

const PATHS = {
  good: 'M9.5 16.5l4.5 4.5L22.5 12',
  wait: 'M16 8v8.5l5.5 3.5',
  gone: 'M10.5 10.5l11 11M21.5 10.5l-11 11',
} as const;

/** The outcome of a payment. It takes the focus, so keyboards and screen readers start there. */
export const News = ({ icon, title, isAlone = false, children }: NewsProps) => {
  const Heading = isAlone ? 'h1' : 'h2';
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [title]);
  return (
    <div class={`news news-${icon}`}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <circle cx="16" cy="16" r="14" />
        <path d={PATHS[icon]} />
      </svg>
      <Heading tabIndex={-1} ref={heading}>
        {title}
      </Heading>
      {children}
    </div>
  );
};

/** A button's command, which never runs twice at the same time. */
export const useBusy = (): readonly [isBusy: boolean, run: (command: () => Promise<void>) => void] => {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = async (command: () => Promise<void>): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    try {
      await command();
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return [isBusy, (command) => void run(command)];
};

/** True until the component is removed. */
export const useIsShown = (): (() => boolean) => {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current;
};
