/**
 * @module Reads a setting from its environment variable. An absent or empty variable means the fallback, unless the
 * setting refuses empty values. Uses no schemas, because building them would slow every cold start.
 */

export interface Setting<T> {
  readonly fallback: string;
  /** The accepted values in the documentation, such as `on, off`, `100 to 4000`, `URL` or `text`. */
  readonly values: string;
  readonly isList: boolean;
  readonly refusesEmpty: boolean;
  readonly description: string;
  /** The problem in one line. Never repeats the value, because a secret may be in the wrong variable. */
  readonly problem: (text: string) => string | undefined;
  /** @param text a value without problems */
  readonly value: (text: string) => T;
  readonly describe: (description: string) => Setting<T>;
}

type Reading<T> = Pick<Setting<T>, 'fallback' | 'problem' | 'value'> & Partial<Setting<T>>;

const setting = <T>(reading: Reading<T>): Setting<T> => ({
  values: 'text',
  isList: false,
  refusesEmpty: false,
  description: '',
  ...reading,
  describe: (description) => setting({ ...reading, description }),
});

/** Adds a rule for the value. */
export const checked = <T>(of: Setting<T>, isRight: (value: T) => boolean, message: string): Setting<T> =>
  setting({ ...of, problem: (text) => of.problem(text) ?? (isRight(of.value(text)) ? undefined : message) });

/** Refuses an empty value, which would silently select the fallback. */
export const neverEmpty = <T>(of: Setting<T>): Setting<T> => setting({ ...of, refusesEmpty: true });

export const mapped = <T, U>(of: Setting<T>, map: (value: T) => U): Setting<U> => {
  const { fallback, values, isList, problem } = of;
  return setting({ fallback, values, isList, problem, value: (text) => map(of.value(text)) });
};

/** Reads the value in lower case. */
export const lowerCase = <T>(of: Setting<T>): Setting<T> =>
  setting({
    ...of,
    problem: (text) => of.problem(text.toLowerCase()),
    value: (text) => of.value(text.toLowerCase()),
  });

const NONE = () => undefined;

export const textSetting = (fallback = ''): Setting<string> =>
  setting({ fallback, problem: NONE, value: (given) => given.trim() });

export const choiceSetting = <const O extends string, const F extends O | ''>(
  options: readonly O[],
  fallback: F,
): Setting<O | F> => {
  const optionOf = (given: string): O | F | undefined =>
    given === fallback ? fallback : options.find((option) => option === given);
  return setting({
    fallback,
    values: options.join(', '),
    problem: (given) =>
      optionOf(given) === undefined ? `must be ${options.slice(0, -1).join(', ')} or ${options.at(-1)}` : undefined,
    value: (given) => optionOf(given) ?? fallback,
  });
};

export const booleanSetting = (fallback: boolean): Setting<boolean> =>
  mapped(choiceSetting(['true', 'false'], `${fallback}`), (value) => value === 'true');

export const integerSetting = (fallback: number, min: number, max: number): Setting<number> => {
  const isRight = (given: string): boolean => {
    const value = Number(given);
    return given.trim() !== '' && Number.isInteger(value) && value >= min && value <= max;
  };
  return setting({
    fallback: String(fallback),
    values: `${min} to ${max}`,
    problem: (given) => (isRight(given) ? undefined : `must be a whole number from ${min} to ${max}`),
    value: Number,
  });
};

/** The non-empty parts between commas. */
export const listSetting = (fallback = ''): Setting<readonly string[]> =>
  setting({
    fallback,
    isList: true,
    problem: NONE,
    value: (given) =>
      given
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
  });

export const urlSetting = (): Setting<string> =>
  setting({
    fallback: '',
    values: 'URL',
    problem: (given) => (given === '' || isUrl(given.trim()) ? undefined : 'must be a URL'),
    value: (given) => given.trim(),
  });
/** True for a URL without white space. The URL parser would silently drop tabs and line breaks. */
const isUrl = (given: string): boolean => URL.canParse(given) && !/\s/.test(given);

export type Environment = Readonly<Record<string, string | undefined>>;

export const readSetting = <T>(of: Setting<T>, given: string | undefined): T => of.value(given || of.fallback);

export type SettingFields = Readonly<Record<string, Setting<unknown>>>;
export type Values<F extends SettingFields> = {
  readonly [Name in keyof F]: F[Name] extends Setting<infer T> ? T : never;
};

/** @param variableOf returns the variable of a field @returns the values, or every mistake in one line each */
export const readSettings = <F extends SettingFields>(
  fields: F,
  env: Environment,
  variableOf: (field: string) => string = (field) => field,
): { readonly mistakes: readonly string[]; readonly values: Values<F> | undefined } => {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [field, of] of Object.entries(fields)) {
    const variable = variableOf(field);
    const given = (of.refusesEmpty ? env[variable] : env[variable] || undefined) ?? of.fallback;
    const problem = of.problem(given);
    if (problem === undefined) values[field] = of.value(given);
    else mistakes.push(`${variable}: ${problem}`);
  }
  // Sound, because without mistakes each field has its own setting's value.
  return { mistakes, values: mistakes.length === 0 ? (values as Values<F>) : undefined };
};

const AMOUNT = /^([A-Z]{3}):(\d{1,12})$/;
/** Amounts in minor units by currency, comma-separated. */
export const amountsSetting = (): Setting<Readonly<Record<string, number>>> =>
  mapped(
    checked(
      listSetting(),
      (parts) => parts.every((part) => AMOUNT.test(part)),
      'must be currencies with amounts in minor units, such as USD:10000,EUR:10000',
    ),
    (parts) =>
      Object.fromEntries(
        parts.map((part) => {
          const [, currency = '', cents = ''] = AMOUNT.exec(part) ?? [];
          return [currency, Number(cents)];
        }),
      ),
  );

const MAX_DAYS = 365;
/** Ascending whole days, comma-separated. */
export const daysSetting = (fallback: readonly number[]): Setting<readonly number[]> =>
  checked(
    mapped(listSetting(fallback.join(',')), (parts) => parts.map(Number)),
    (each) => each.every((day, at) => Number.isInteger(day) && day > (each[at - 1] ?? 0) && day <= MAX_DAYS),
    `must be whole days from 1 to ${MAX_DAYS}, in ascending order`,
  );

const MOST_WAITS = 20;
/** Must stay below four days, the retention of the delivery queue. */
const LONGEST_SCHEDULE_SECONDS = 3 * 24 * 60 * 60;
/** Whole seconds, comma-separated. */
export const waitsSetting = (): Setting<readonly number[]> =>
  checked(
    mapped(listSetting(), (parts) => parts.map(Number)),
    (each) =>
      each.length <= MOST_WAITS &&
      each.every((seconds) => Number.isInteger(seconds) && seconds >= 1) &&
      each.reduce((sum, seconds) => sum + seconds, 0) <= LONGEST_SCHEDULE_SECONDS,
    `must be at most ${MOST_WAITS} delays in whole seconds, together at most ${LONGEST_SCHEDULE_SECONDS}`,
  );

/** The fields of a user that a bearer token may contain. */
const CLAIM_FIELDS = ['email', 'organization_id', 'is_admin', 'staff_role'] as const;
type ClaimField = (typeof CLAIM_FIELDS)[number];

export interface ClaimSource {
  /** A claim's name, or a dotted path. */
  readonly claim: string;
  /** Only for `is_admin`. The claim must equal this word or be a list that contains it. */
  readonly word?: string | undefined;
}
/** A field without a source uses the claim of the same name. */
export type ClaimSources = Readonly<Partial<Record<ClaimField, ClaimSource>>>;

interface ReadPart extends ClaimSource {
  readonly field: string;
}

const readPart = (part: string): ReadPart => {
  const [field = '', ...after] = part.split('=');
  const text = after.join('=').trim();
  const at = text.lastIndexOf('~');
  return at < 0
    ? { field: field.trim(), claim: text }
    : { field: field.trim(), claim: text.slice(0, at), word: text.slice(at + 1) };
};

const areRight = (parts: readonly ReadPart[]): boolean =>
  new Set(parts.map(({ field }) => field)).size === parts.length &&
  parts.every(
    ({ field, claim, word }) =>
      CLAIM_FIELDS.some((known) => known === field) &&
      claim !== '' &&
      (word === undefined || (word !== '' && field === 'is_admin')),
  );

/** Pairs such as `is_admin=cognito:groups~admins,email=mail`, comma-separated. */
export const claimsSetting = (): Setting<ClaimSources> =>
  mapped(
    checked(
      mapped(listSetting(), (parts) => parts.map(readPart)),
      areRight,
      `must be pairs <field>=<claim>, each field once, of ${CLAIM_FIELDS.join(', ')}; is_admin=<claim>~<word>`,
    ),
    (parts) => Object.fromEntries(parts.map(({ field, ...source }) => [field, source])),
  );
