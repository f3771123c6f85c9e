/** @module A button with a menu of commands, for mouse and keyboard. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  readonly name: string;
  readonly run: () => void;
  readonly isBusy?: boolean;
  /** The tooltip of the command. */
  readonly hint?: string;
}

interface MenuProps {
  /** The label of the button. */
  readonly name: string;
  readonly items: readonly MenuItem[];
  /** The edge of the button at which the menu is aligned. */
  readonly align?: 'start' | 'end';
}

const STEPS: Readonly<Record<string, (at: number, size: number) => number>> = {
  ArrowDown: (at, size) => (at + 1) % size,
  ArrowUp: (at, size) => (at - 1 + size) % size,
  Home: () => 0,
  End: (_, size) => size - 1,
};

export const Menu = ({ name, items, align = 'start' }: MenuProps) => {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = (): readonly HTMLElement[] => [
    ...(frame.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []),
  ];
  // Runs before the paint, so that the next key press finds the focus on the first item.
  useLayoutEffect(() => {
    if (isOpen) list()[0]?.focus();
  }, [isOpen]);
  useOutside(frame, isOpen, () => setOpen(false));
  const close = (): void => {
    setOpen(false);
    // The button gets the focus first, because a dialog opened by the command later returns the focus to it.
    button.current?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const all = list();
    const at = all.findIndex((item) => item.matches(':focus'));
    const step = STEPS[event.key];
    if (event.key === 'Tab') setOpen(false);
    if (step) all[step(at, all.length)]?.focus();
    else if (event.key === 'Escape') close();
    else if (event.key.length === 1 && event.key !== ' ') beginningWith(event.key, all, at)?.focus();
    else return;
    event.preventDefault();
  };
  const pressOnButton = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'Escape') return;
    event.preventDefault();
    setOpen(event.key === 'ArrowDown');
  };
  return (
    <div class="menu" ref={frame}>
      <button
        ref={button}
        type="button"
        class="opens-menu"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={pressOnButton}
      >
        {name}
      </button>
      <div
        id={id}
        role="menu"
        aria-label={name}
        class={`menu-list menu-${align}`}
        tabIndex={-1}
        hidden={!isOpen}
        onKeyDown={move}
      >
        {isOpen &&
          items.map(({ name: item, run, isBusy = false, hint }) => (
            <button
              key={item}
              type="button"
              role="menuitem"
              tabIndex={-1}
              disabled={isBusy}
              title={hint}
              onClick={() => {
                close();
                run();
              }}
            >
              {item}
            </button>
          ))}
      </div>
    </div>
  );
};

/** The next item whose name begins with the typed character. */
const beginningWith = (typed: string, items: readonly HTMLElement[], at: number): HTMLElement | undefined =>
  [...items.slice(at + 1), ...items.slice(0, at + 1)].find((item) =>
    item.innerText.toLowerCase().startsWith(typed.toLowerCase()),
  );

/** Calls `call` on a click or focus outside the menu, and on Escape even if no item has the focus. */
const useOutside = (frame: { readonly current: HTMLElement | null }, isOn: boolean, call: () => void): void => {
  useEffect(() => {
    if (!isOn) return;
    const outside = ({ target }: Event): void => {
      if (target instanceof Node && !frame.current?.contains(target)) call();
    };
    const giveUp = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') call();
    };
    document.addEventListener('keydown', giveUp);
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('keydown', giveUp);
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  });
};
