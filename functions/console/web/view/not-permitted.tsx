import type { Scope } from '../api/types.ts';

interface NotPermittedProps {
  readonly scope: Scope;
  /** The records in words, with a capital letter. */
  readonly what: string;
}

/** In place of records that the user may not see, so that they are not taken for absent. */
export const NotPermitted = ({ scope, what }: NotPermittedProps) => (
  <p class="quiet">
    {what} are not shown, because your role lacks the scope <code>{scope}</code>.
  </p>
);
