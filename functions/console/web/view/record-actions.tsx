/** @module The actions of a record: the main one as a button, further ones in the menu "More". */

import { Menu, type MenuItem } from './menu.tsx';

export interface RecordAction extends MenuItem {
  /** True for the action that users come for. It stands out by its color. */
  readonly isMain?: boolean;
  /** The name while the action runs. */
  readonly whileBusy?: string;
}

/** @param actions in the order of their importance; the first one is the button */
export const RecordActions = ({ actions }: { readonly actions: readonly RecordAction[] }) => {
  const [first, ...more] = actions;
  if (!first) return null;
  const { name, run, isMain = false, isBusy = false, whileBusy = name, hint } = first;
  return (
    <>
      <button type="button" class={isMain ? 'primary' : ''} disabled={isBusy} title={hint} onClick={run}>
        {isBusy ? whileBusy : name}
      </button>
      {more.length > 0 && <Menu name="More" items={more} align="end" />}
    </>
  );
};
