/** @module The actions on a record, with the main action as a button and the others in the menu "More". */

import { Menu, type MenuItem } from './menu.tsx';

export interface RecordAction extends MenuItem {
  /** True for the most used action, shown in a highlighted color. */
  readonly isMain?: boolean;
  /** The label while the action runs. */
  readonly whileBusy?: string;
}

/** @param actions in order of importance; the first becomes the button */
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
