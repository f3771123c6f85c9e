import type { Scope } from '../api/types.ts';

interface NotPermittedProps {
  readonly scope: Scope;
  /** The records in words, with an initial capital. */
  readonly what: string;
}

/** Replaces records hidden from the user, so they do not seem to be missing. */
export const NotPermitted = ({ scope, what }: NotPermittedProps) => (
  <p class="quiet">
    {what} are not shown, because your role lacks the scope <code>{scope}</code>.
  </p>
);
