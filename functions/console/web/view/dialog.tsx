import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Action } from './action.ts';

interface DialogProps {
  readonly title: string;
  /** Set for a sheet, which covers the lower part of a phone. */
  readonly kind?: 'sheet';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog of the browser, which traps the focus and closes on Escape. */
export const Dialog = ({ title, kind, onClose, children }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} class={kind} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
};

interface DialogActionsProps {
  /** The label of the button that closes the dialog without a change. */
  readonly back: string;
  readonly onBack: () => void;
  /** The label of the confirming button, and its label while it is busy. */
  readonly act: readonly [name: string, whileBusy: string];
  readonly action: Pick<Action, 'isBusy' | 'run'>;
  readonly kind?: 'primary' | 'danger';
  /** True while required fields are missing. */
  readonly isIncomplete?: boolean;
}

/** The delay before a confirming button accepts clicks. A double click then never confirms an unread question. */
const READING_MS = 500;

/** The buttons of a question. The confirming button is on the left, away from the button that opened the dialog. */
export const DialogActions = (props: DialogActionsProps) => {
  const { back, onBack, act, action, kind = 'primary', isIncomplete = false } = props;
  const [name, whileBusy] = act;
  const isReadable = useIsReadable();
  return (
    <div class="dialog-actions asks">
      <button type="button" class={kind} disabled={!isReadable || action.isBusy || isIncomplete} onClick={action.run}>
        {action.isBusy ? whileBusy : name}
      </button>
      <button type="button" disabled={action.isBusy} onClick={onBack}>
        {back}
      </button>
    </div>
  );
};

/** True once the question has been shown for `READING_MS`. */
const useIsReadable = (): boolean => {
  const [isReadable, setReadable] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReadable(true), READING_MS);
    return () => clearTimeout(timer);
  }, []);
  return isReadable;
};

interface FormActionsProps {
  readonly onClose: () => void;
  /** The label of the button that sends the form, and its label while it is busy. */
  readonly act: readonly [name: string, whileBusy?: string];
  readonly isBusy?: boolean;
}

/**
 * The buttons of a form in a dialog. They need no delay, because a further step or the entered form confirms the
 * action.
 */
export const FormActions = ({ onClose, act: [name, whileBusy], isBusy = false }: FormActionsProps) => (
  <div class="dialog-actions">
    <button type="button" onClick={onClose}>
      Close
    </button>
    <button type="submit" class="primary" disabled={isBusy}>
      {isBusy ? whileBusy : name}
    </button>
  </div>
);
