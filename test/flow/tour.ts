/** The commands of a shell block, with the output block below it. */
export interface TourStep {
  readonly commands: string;
  /** undefined if no output block follows */
  readonly shown: string | undefined;
}

/** The shell blocks of one section or of the whole page, each with the plain block directly below it. */
export const stepsOf = (page: string, section?: string): readonly TourStep[] =>
  stepsIn(section === undefined ? page : sectionOf(page, section));

const sectionOf = (page: string, section: string): string => {
  const [, text = ''] = page.split(new RegExp(`^## ${section}$`, 'm'));
  return text.split(/^## /m)[0] ?? '';
};

const stepsIn = (text: string): readonly TourStep[] =>
  [...text.matchAll(/^```sh\n(.*?)^```\n(?:^```\n(.*?)^```$)?/gms)].map(([, commands = '', shown]) => ({
    commands,
    shown,
  }));

const ID = /\b(pay|ref|dsp|pmt|cust|subs|gst|log|msg|pi|pm|ch|cus|evt|in|sub)_[0-9A-Za-z]{8,}(_secret_[0-9a-f]+)?/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const OWN = /(?<=v1,)[\w+/=]{40,}|127\.0\.0\.1:\d+|(?<="(?:waited_ms|webhook-timestamp)":"?)\d+/g;

/** The text without white space, and without ids, times and signatures, which differ per run. */
const bare = (text: string): string =>
  text.replace(ID, '$1_').replace(TIME, 'T').replace(OWN, 'own').replaceAll(/\s+/g, '');

/** True if the output matches the block. `…` in the block matches any text. */
export const matchesShown = (shown: string, printed: string): boolean => {
  let at = 0;
  const printedBare = bare(printed);
  const [first = '', ...others] = shown.split('…').map(bare);
  if (!printedBare.startsWith(first)) return false;
  at = first.length;
  for (const part of others) {
    const found = printedBare.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return others.at(-1) === '' || at === printedBare.length;
};
