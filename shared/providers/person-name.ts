/** Vendors that want two names for one: the last word is the family name, and joined again they are what was given. */
export const splitName = (name: string): readonly [given: string, family: string | undefined] => {
  const at = name.lastIndexOf(' ');
  return at > 0 && at < name.length - 1 ? [name.slice(0, at), name.slice(at + 1)] : [name, undefined];
};

export const joinName = (given: string | null | undefined, family: string | null | undefined): string | undefined =>
  [given, family].filter(Boolean).join(' ') || undefined;
