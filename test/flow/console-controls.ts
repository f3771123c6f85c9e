import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import * as z from 'zod';
import type { ConsoleVisit } from './console-steps.ts';

/** Steps with the controls of the console. Their places differ between a phone and a desktop. */

const FIRST_DESK_PX = 800;

export const isPhone = (page: Page): boolean => (page.viewportSize()?.width ?? 0) < FIRST_DESK_PX;

/** On a phone, opens the drawer with the navigation, the time zone and the user. */
export const openMenu = async (page: Page): Promise<void> => {
  const isOpen = await page.getByRole('dialog', { name: 'Menu' }).isVisible();
  if (isPhone(page) && !isOpen) await page.getByRole('button', { name: 'Menu', exact: true }).click();
};

export const closeMenu = async (page: Page): Promise<void> => {
  if (isPhone(page)) await page.getByRole('button', { name: 'Close menu' }).click();
};

/** Opens a page by its navigation link. The link may end with a count of open tasks. */
export const goTo = async (page: Page, name: string): Promise<void> => {
  await openMenu(page);
  const inFull = new RegExp(`^${name}(\\s+\\d+ needs? attention)?$`);
  await page.getByRole('navigation').getByRole('link', { name: inFull }).click();
};

export const signOut = async (page: Page): Promise<void> => {
  await openMenu(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
};

/** Waits for a text about the user, such as an e-mail address or a role. */
export const expectUser = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('banner').waitFor();
  await openMenu(page);
  await page.locator('.who').getByText(text).waitFor();
  await closeMenu(page);
};

export const chooseZone = async (page: Page, zone: string | { readonly label: string }): Promise<void> => {
  await openMenu(page);
  await page.getByLabel('Times in').selectOption(zone);
  await closeMenu(page);
};

/** The search field in the head. On a phone, a button opens it first. */
export const searchField = async (page: Page): Promise<Locator> => {
  const open = page.getByRole('button', { name: 'Open search' });
  if (isPhone(page) && (await open.isVisible())) await open.click();
  return page.getByRole('banner').getByLabel('Search', { exact: true });
};

export const searchFor = async (page: Page, text: string): Promise<void> => {
  await (await searchField(page)).fill(text);
  await page.getByRole('banner').getByRole('button', { name: 'Search', exact: true }).click();
};

/** Matches a label by its first words, because its text continues with the options of its select. */
const beginning = (label: string): RegExp => new RegExp(`^${label}`);

/** Sets a filter of a list: in the bar, by "Add filter", or in the sheet of a phone. */
const setFilter = async (page: Page, label: string, set: (field: Locator) => Promise<unknown>): Promise<void> => {
  const main = page.getByRole('main');
  if (isPhone(page)) {
    await main.getByRole('button', { name: /^Filters/ }).click();
    const sheet = page.getByRole('dialog', { name: 'Filters' });
    await set(sheet.getByLabel(beginning(label)));
    await sheet.getByRole('button', { name: /^Show/ }).click();
    return;
  }
  await main.locator('.filter-bar').waitFor();
  const field = main.getByLabel(beginning(label));
  if (!(await field.isVisible())) {
    await main.getByRole('button', { name: 'Add filter' }).click();
    await main.getByRole('menuitem', { name: label, exact: true }).click();
  }
  await set(field);
};

export const chooseFilter = (page: Page, label: string, value: string): Promise<void> =>
  setFilter(page, label, (field) => field.selectOption(value));

export const typeFilter = (page: Page, label: string, text: string): Promise<void> =>
  setFilter(page, label, async (field) => {
    await field.fill(text);
    await field.press('Enter');
  });

/** The value of a set filter in words: the choice in the bar, or the text of its chip. */
export const filterShown = async (page: Page, label: string): Promise<string> => {
  const field = page.getByRole('main').getByLabel(beginning(label));
  if (await field.isVisible()) {
    return z
      .string()
      .parse(await field.evaluate((select: { selectedOptions: [{ text: string }] }) => select.selectedOptions[0].text));
  }
  const remove = page.getByRole('button', { name: `Remove filter ${label}`, exact: true });
  const chip = await page.locator('.chip', { has: remove }).innerText();
  return chip.replace(`${label}: `, '').trim();
};

/** Waits for the page of a record. The head of the page contains the record's id. */
export const atRecord = (page: Page, id: string): Promise<void> =>
  page
    .locator('.record-head')
    .getByRole('button', { name: `Copy ${id}`, exact: true })
    .waitFor();

const openMore = async (page: Page): Promise<void> => {
  const actions = page.locator('.record-head .actions');
  const closed = actions.getByRole('button', { name: 'More', expanded: false });
  if (await closed.isVisible()) await closed.click();
  await actions.getByRole('menuitem').first().waitFor();
};

/** Runs a command in the head of a record, by its button or in "More". */
export const giveCommand = async (page: Page, name: string): Promise<void> => {
  const head = page.locator('.record-head');
  await head.locator('.actions button').first().waitFor();
  const button = head.getByRole('button', { name, exact: true });
  if (!(await button.isVisible())) await openMore(page);
  await button.or(head.getByRole('menuitem', { name, exact: true })).click();
};

/** The commands in the head of a record: the button, then those in "More". */
export const commandsIn = async (page: Page): Promise<readonly string[]> => {
  // A closing dialog still blocks clicks on the head.
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  const actions = page.locator('.record-head .actions');
  const shown = await actions.locator('> button').allInnerTexts();
  const more = actions.getByRole('button', { name: 'More' });
  if ((await more.count()) === 0) return shown;
  await openMore(page);
  const further = await actions.getByRole('menuitem').allInnerTexts();
  await page.keyboard.press('Escape');
  return [...shown, ...further];
};

/** Expects that no table is wider than its box. */
export const expectTablesInBox = async (page: Page): Promise<void> => {
  const tooWide = `[...document.querySelectorAll('.table-box')]
    .filter((box) => !box.closest('details:not([open])') && box.scrollWidth > box.clientWidth)
    .map((box) => box.innerText.slice(0, 60) + ': ' + (box.scrollWidth - box.clientWidth) + ' px')`;
  expect(z.array(z.string()).parse(await page.evaluate(tooWide))).toEqual([]);
};

/** Expects that every status and every amount in a table lies within the screen and within its box. */
export const expectStatusesAndAmountsVisible = async (page: Page): Promise<void> => {
  const hidden = `[...document.querySelectorAll('td .status, td .money')]
    .filter((part) => {
      if (part.closest('details:not([open])')) return false;
      const [own, box] = [part, part.closest('.table-box')].map((element) => element.getBoundingClientRect());
      return own.width === 0 || own.left < box.left || own.right > Math.min(box.right, innerWidth);
    })
    .map((part) => part.innerText)`;
  expect(z.array(z.string()).parse(await page.evaluate(hidden))).toEqual([]);
};

export const expectPillsInOneLine = async (page: Page): Promise<void> => {
  const tall = `[...document.querySelectorAll('.status')]
    .filter((pill) => pill.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(pill).fontSize))
    .map((pill) => pill.innerText)`;
  expect(z.array(z.string()).parse(await page.evaluate(tall))).toEqual([]);
};

/**
 * The average extra width of a letter in another font than the test browser's font, in em. Measured with dates,
 * amounts, statuses, ids and e-mail addresses.
 */
const WIDER = { 'Liberation Sans': -0.015, 'DejaVu Sans': 0.055 } as const;
export const FONTS = ['Liberation Sans', 'DejaVu Sans'] as const;

/** Makes the texts of a visit as wide as in the given font. The test browser lacks this font. */
export const showAsWideAs = async ({ page }: ConsoleVisit, font: (typeof FONTS)[number]): Promise<void> => {
  await page.addInitScript(`{
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { letter-spacing: ${WIDER[font]}em !important; }');
    document.adoptedStyleSheets = [sheet];
  }`);
};
