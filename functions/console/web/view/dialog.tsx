import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Action } from './action.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog of the browser, which traps the focus and closes on Escape. */
export const Dialog = ({ title, onClose, children }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
};

interface DialogActionsProps {
  /** The label of the button that closes the dialog without a change. */
  readonly back: string;
  readonly onBack: () => void;
  /** The label of the button that acts, and its label while it is busy. */
  readonly act: readonly [name: string, whileBusy: string];
  readonly action: Pick<Action, 'isBusy' | 'run'>;
  readonly kind?: 'primary' | 'danger';
}

export const DialogActions = ({
  back,
  onBack,
  act: [name, whileBusy],
  action,
  kind = 'primary',
}: DialogActionsProps) => (
  <div class="dialog-actions">
    <button type="button" onClick={onBack}>
      {back}
    </button>
    <button type="button" class={kind} disabled={action.isBusy} onClick={action.run}>
      {action.isBusy ? whileBusy : name}
    </button>
  </div>
);
